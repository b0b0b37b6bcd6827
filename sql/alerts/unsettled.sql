-- name: alerts/unsettled
-- grain: alert
-- params: channel VARCHAR
-- reads: ops.alert_outbox, ops.alert_deliveries, ops.alert_acks
-- units: hour_index; microseconds
-- why: what a channel has not been told and may have to be; opening_status and opened_as are what became of the alert that
--      began it (for that alert itself NULL), since_hour_index its hour; is_over: it has ended since
with told as (
  select
    dedup_key,
    kind,
    level,
    status,
    attempts,
    first_attempt_us,
    next_attempt_us,
    sent_as
  from ops.alert_deliveries
  where channel = $channel
),

opening as (
  select
    opened.dedup_key,
    opened.hour_index,
    told.status,
    told.sent_as
  from ops.alert_outbox as opened
  left join told on opened.dedup_key = told.dedup_key and opened.kind = told.kind and opened.level = told.level
  where opened.action = 'trigger'
)

select
  alert.dedup_key,
  alert.kind,
  alert.action,
  alert.level,
  alert.deployment,
  alert.hour_index,
  alert.message,
  coalesce(opening.hour_index, alert.hour_index) as since_hour_index,
  opening.status as opening_status,
  opening.sent_as as opened_as,
  coalesce(told.attempts, 0) as attempts,
  told.first_attempt_us,
  told.next_attempt_us,
  alert.dedup_key in (select dedup_key from ops.alert_outbox where action = 'resolve') as is_over,
  (
    select min_by(ack.acknowledged_by, ack.acknowledged_us)
    from ops.alert_acks as ack
    where ack.dedup_key = alert.dedup_key
  ) as acknowledged_by
from ops.alert_outbox as alert
left join told on alert.dedup_key = told.dedup_key and alert.kind = told.kind and alert.level = told.level
left join opening on alert.dedup_key = opening.dedup_key and alert.action <> 'trigger'
where told.status is null or told.status = 'waiting'
order by alert.hour_index, alert.deployment, alert.kind, alert.level
