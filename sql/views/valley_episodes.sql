-- name: views/valley_episodes
-- grain: episode
-- params: none
-- reads: mart.valley_episodes
-- units: ratios; money
-- why: left_at is NULL while the deployment is still in the valley
select
  deployment,
  make_timestamp(entered_hour_index * 3600000000) as entered_at,
  make_timestamp(left_hour_index * 3600000000) as left_at,
  peak_depth,
  lost_total,
  currency,
  dedup_key,
  make_timestamp(notified_us) as notified_at
from mart.valley_episodes
