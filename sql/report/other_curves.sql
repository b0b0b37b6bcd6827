-- name: report/other_curves
-- grain: deployment × estimator × target
-- params: none
-- reads: mart.curve_candidates
-- units: ratios
-- why: what the estimators that were not chosen say of each deployment's newest day with traffic
select
  deployment,
  estimator,
  target,
  a,
  a_low,
  a_high,
  reasons
from mart.curve_candidates as candidate
where
  not is_chosen
  and a is not null
  and day_index = (
    select max(hour_index) // 24 from mart.hourly_hit_rate as hourly where hourly.deployment = candidate.deployment
  )
order by deployment, target
