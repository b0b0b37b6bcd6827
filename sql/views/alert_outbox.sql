-- name: views/alert_outbox
-- grain: alert
-- params: none
-- reads: ops.alert_outbox, ops.alert_deliveries, ops.alert_acks
-- units: ratio
-- about: alerts as they were recorded, with who has seen them
-- why: alerts as recorded; delivered_at is when the first channel took it, NULL until one has; acknowledged_at and _by are
--      of the whole alert, from its beginning to its end
-- comments:
--   dedup_key: what the alert is about, the same from its beginning to its end
--   kind: entry, worsening, exit, retracted; untrustworthy, trustworthy; stale, resumed; data_blocked, unblocked
--   action: what the kind does to the alert of its key: trigger, update or resolve
--   level: tells several alerts of one kind and key apart: how often the depth has doubled
--   deployment: whom it is about; NULL = the whole warehouse
--   hour_utc: hour it is about, UTC
--   depth: largest depth of the episode when it was written [1]; NULL = no episode
--   message: the alert in a sentence
--   written_at: when it was recorded, UTC
--   delivered_at: when the first channel took it, UTC; NULL = none yet
--   acknowledged_at: when somebody had seen the alert of this key, UTC; NULL = nobody yet
--   acknowledged_by: who that was
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
