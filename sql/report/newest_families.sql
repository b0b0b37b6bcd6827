-- name: report/newest_families
-- grain: deployment × family
-- params: none
-- reads: mart.curve_families
-- units: tokens/s; ratios
-- why: the shapes that were compared for each deployment's newest day with traffic
select
  deployment,
  family,
  error,
  tps0,
  a,
  is_kept
from mart.curve_families as newest
where day_index = (
  select max(hour_index) // 24 from mart.hourly_hit_rate as hourly where hourly.deployment = newest.deployment
)
order by deployment, error, family
