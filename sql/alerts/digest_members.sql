-- name: alerts/digest_members
-- grain: alert
-- params: channel VARCHAR, sent_as VARCHAR
-- reads: ops.alert_outbox, ops.alert_deliveries
-- units: none
-- why: the alerts that one digest began at a channel, and which of them are over
select
  told.dedup_key,
  told.dedup_key in (select dedup_key from ops.alert_outbox where action = 'resolve') as is_over
from ops.alert_deliveries as told
where told.channel = $channel and told.sent_as = $sent_as and told.status = 'sent'
order by told.dedup_key
