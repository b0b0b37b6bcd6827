-- name: views/alert_outbox
-- grain: alert
-- params: none
-- reads: ops.alert_outbox, ops.alert_deliveries, ops.alert_acks
-- units: ratio
-- about: alerts as they were recorded, with who has seen them
-- why: alerts as recorded; delivered_at is when the first channel took it, NULL until one has; acknowledged_at and _by are
--      of the whole alert, from its beginning to its end
select
  dedup_key,
  kind,
  action,
  level,
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  depth,
  message,
  make_timestamp(written_us) as written_at,
  make_timestamp(
    (
      select min(delivery.settled_us)
      from ops.alert_deliveries as delivery
      where
        delivery.dedup_key = alert.dedup_key
        and delivery.kind = alert.kind
        and delivery.level = alert.level
        and delivery.status = 'sent'
    )
  ) as delivered_at,
  make_timestamp(
    (select min(ack.acknowledged_us) from ops.alert_acks as ack where ack.dedup_key = alert.dedup_key)
  ) as acknowledged_at,
  (
    select min_by(ack.acknowledged_by, ack.acknowledged_us)
    from ops.alert_acks as ack
    where ack.dedup_key = alert.dedup_key
  ) as acknowledged_by
from ops.alert_outbox as alert
