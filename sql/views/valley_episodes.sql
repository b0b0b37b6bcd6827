-- name: views/valley_episodes
-- grain: episode
-- params: none
-- reads: mart.valley_episodes
-- units: ratios; money; hours with traffic
-- about: when deployments were in the valley, how deep, what it cost
-- why: left_at is NULL while the deployment is still in the valley; held hours count in n_hours alone: their depth and loss
--      are not known
select
  deployment,
  make_timestamp(entered_hour_index * 3600000000) as entered_at,
  make_timestamp(left_hour_index * 3600000000) as left_at,
  n_hours,
  n_held_hours,
  peak_depth,
  make_timestamp(deepest_hour_index * 3600000000) as deepest_at,
  lost_total,
  currency,
  policy_version,
  dedup_key,
  make_timestamp(notified_us) as notified_at
from mart.valley_episodes
