-- name: doctor/untried_alerts
-- grain: alert of which no channel knows
-- params: from_hour BIGINT
-- reads: ops.alert_outbox, ops.alert_deliveries
-- units: hour_index; microseconds
-- why: recorded, young enough to be sent, and never taken up
select
  alert.dedup_key,
  alert.kind,
  alert.deployment,
  alert.written_us
from ops.alert_outbox as alert
where
  alert.hour_index >= $from_hour
  and not exists (
    select 1
    from ops.alert_deliveries as delivery
    where
      delivery.dedup_key = alert.dedup_key
      and delivery.kind = alert.kind
      and delivery.level = alert.level
  )
order by alert.written_us, alert.dedup_key, alert.kind
