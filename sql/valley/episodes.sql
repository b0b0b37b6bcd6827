-- name: valley/episodes
-- grain: episode
-- params: none
-- reads: mart.valley_episodes
-- units: ratios; money; hour_index; microseconds
-- why: what is told of them; left_hour_index is NULL while the run goes on
select
  deployment,
  entered_hour_index,
  left_hour_index,
  peak_depth,
  deepest_hour_index,
  dedup_key,
  notified_us
from mart.valley_episodes
order by deployment, entered_hour_index
