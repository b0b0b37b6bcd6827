-- name: alerts/still_open
-- grain: alert
-- params: channel VARCHAR
-- reads: ops.alert_outbox, ops.alert_deliveries, ops.alert_acks
-- units: hour_index
-- why: alerts that a channel was told began and that have not ended: one that forgets must be told again
select
  alert.dedup_key,
  alert.kind,
  alert.action,
  alert.level,
  alert.deployment,
  alert.hour_index,
  alert.hour_index as since_hour_index,
  alert.message,
  (
    select min_by(ack.acknowledged_by, ack.acknowledged_us)
    from ops.alert_acks as ack
    where ack.dedup_key = alert.dedup_key
  ) as acknowledged_by
from ops.alert_outbox as alert
inner join ops.alert_deliveries as told
  on alert.dedup_key = told.dedup_key and alert.kind = told.kind and alert.level = told.level
where
  told.channel = $channel
  and told.status = 'sent'
  and alert.action = 'trigger'
  and alert.dedup_key not in (select dedup_key from ops.alert_outbox where action = 'resolve')
order by alert.hour_index, alert.deployment, alert.kind
