-- name: valley/notified
-- grain: episode
-- params: none
-- reads: mart.valley_episodes
-- units: microseconds
-- why: what is known of an episode besides what follows from its hours
select dedup_key, notified_us
from mart.valley_episodes
