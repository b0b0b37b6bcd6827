-- name: shown/money_of_day
-- grain: deployment × hour
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.profit_and_loss
-- units: money
-- why: a day's profit and loss as the orchestrator shows it; NULL where there is no price, no cost or no trusted curve
select
  currency,
  gross_revenue,
  margin,
  cache_value
from mart.profit_and_loss
where hour_index between $first_hour and $last_hour
order by currency
