-- name: alerts/set_notified
-- grain: statement
-- params: none
-- reads: mart.valley_episodes, ops.alert_deliveries
-- units: microseconds
-- why: an episode is notified once the first channel has taken its entry
update mart.valley_episodes
set notified_us = first.settled_us
from (
  select dedup_key, min(settled_us) as settled_us
  from ops.alert_deliveries
  where kind = 'entry' and status = 'sent'
  group by dedup_key
) as first
where valley_episodes.dedup_key = first.dedup_key and valley_episodes.notified_us is null
