-- name: alerts/open_conditions
-- grain: alert key
-- params: none
-- reads: ops.alert_outbox
-- units: hour_index
-- why: alerts of conditions that were opened and not ended; those of episodes end with their episodes
select
  opened.dedup_key,
  opened.kind,
  opened.deployment,
  opened.hour_index
from ops.alert_outbox as opened
where
  opened.action = 'trigger'
  and opened.kind <> 'entry'
  and opened.dedup_key not in (select dedup_key from ops.alert_outbox where action = 'resolve')
order by opened.hour_index, opened.deployment, opened.kind
