-- name: doctor/deliveries
-- grain: alert × channel that has not taken it
-- params: none
-- reads: ops.alert_deliveries, ops.alert_acks
-- units: microseconds
-- why: waiting: to be tried again, since its first attempt; dead: given up, since then; one that somebody has acknowledged
--      is known to a person. Newest first
select
  delivery.kind,
  delivery.channel,
  delivery.status,
  delivery.attempts,
  coalesce(delivery.settled_us, delivery.first_attempt_us) as since_us,
  delivery.error
from ops.alert_deliveries as delivery
where
  (delivery.status = 'dead' or delivery.status = 'waiting' and delivery.attempts > 0)
  and not exists (select 1 from ops.alert_acks as ack where ack.dedup_key = delivery.dedup_key)
order by since_us desc, delivery.dedup_key, delivery.channel
