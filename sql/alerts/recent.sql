-- name: alerts/recent
-- grain: alert
-- params: first_hour_index BIGINT
-- reads: ops.alert_outbox, ops.alert_deliveries, ops.alert_acks
-- units: hour_index; microseconds
-- why: alerts as people ask for them: those of hours from one on, and those that have not ended
select
  alert.dedup_key,
  alert.kind,
  alert.action,
  alert.level,
  alert.deployment,
  alert.hour_index,
  alert.message,
  alert.written_us,
  alert.dedup_key not in (select dedup_key from ops.alert_outbox where action = 'resolve') as is_open,
  ack.acknowledged_us,
  ack.acknowledged_by,
  ack.note
from ops.alert_outbox as alert
left join ops.alert_acks as ack on alert.dedup_key = ack.dedup_key
where
  alert.hour_index >= $first_hour_index
  or alert.dedup_key not in (select dedup_key from ops.alert_outbox where action = 'resolve')
order by alert.hour_index, alert.deployment, alert.kind, alert.level
