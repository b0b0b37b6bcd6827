-- name: report/newest_draws
-- grain: deployment × draw
-- params: none
-- reads: mart.curve_draws
-- units: seconds
-- why: the newest curve's bootstrap draws
select
  deployment,
  f,
  c,
  q,
  k
from mart.curve_draws as draws
where day_index = (
  select max(hour_index) // 24 from mart.hourly_hit_rate as hourly where hourly.deployment = draws.deployment
)
order by deployment, draw
