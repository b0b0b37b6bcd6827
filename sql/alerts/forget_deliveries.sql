-- name: alerts/forget_deliveries
-- grain: statement
-- params: channel VARCHAR
-- reads: ops.alert_deliveries, became
-- units: none
-- why: what became of an alert at a channel is replaced, never changed
delete from ops.alert_deliveries
where
  channel = $channel
  and exists (
    select 1
    from became
    where
      became.dedup_key = alert_deliveries.dedup_key
      and became.kind = alert_deliveries.kind
      and became.level = alert_deliveries.level
  )
