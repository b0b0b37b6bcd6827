-- name: report/episodes
-- grain: episode
-- params: none
-- reads: mart.valley_episodes
-- units: ratios; money; hour_index; hours with traffic
-- why: what was decided, as published
select
  deployment,
  entered_hour_index,
  left_hour_index,
  n_hours,
  n_held_hours,
  peak_depth,
  deepest_hour_index,
  lost_total,
  currency,
  policy_version,
  dedup_key
from mart.valley_episodes
order by deployment, entered_hour_index
