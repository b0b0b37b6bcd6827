-- name: shown/curves_of_day
-- grain: deployment
-- params: day_index BIGINT
-- reads: mart.throughput_curve
-- units: tokens/s; ratios
-- why: a day's curves as the orchestrator shows them
select
  deployment,
  estimator,
  tps0,
  a,
  a_low,
  a_high,
  n_minutes,
  trustworthy,
  reasons
from mart.throughput_curve
where day_index = $day_index
order by deployment
