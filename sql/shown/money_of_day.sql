-- name: shown/money_of_day
-- grain: currency
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.profit_and_loss
-- units: money
-- why: a day's profit and loss as the orchestrator shows it; shown with two decimals, so that the order of the sum is nothing
--      to see. Hours without a price or a cost are not in it: n_unpriced and n_without_margin count them
select
  currency,
  sum(gross_revenue) as gross_revenue,
  sum(margin) as margin,
  sum(cache_value) as cache_value,
  cast(sum(case when gross_revenue is null then 1 else 0 end) as bigint) as n_unpriced,
  cast(sum(case when margin is null then 1 else 0 end) as bigint) as n_without_margin
from mart.profit_and_loss
where hour_index between $first_hour and $last_hour
group by currency
order by currency
