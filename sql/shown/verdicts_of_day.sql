-- name: shown/verdicts_of_day
-- grain: deployment × hour
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.valley_status
-- units: ratios; money (lost_per_hour negative: the cache earns)
-- why: a day's verdicts as the orchestrator shows them
select
  deployment,
  hour_index,
  revenue_index,
  index_low,
  index_high,
  state,
  lost_per_hour,
  currency,
  reasons
from mart.valley_status
where hour_index between $first_hour and $last_hour
order by deployment, hour_index
