-- name: adhoc/alerts_and_fate
-- grain: alert × channel
-- params: days BIGINT = 30 (up to the newest alert)
-- reads: alert_outbox, alert_deliveries
-- units: times UTC
-- question: Which alerts were sent, and which are dead?
-- why: an alert without a channel that is to have it has one row, with status NULL: nobody was told
-- comments:
--   hour_utc: what it is about
--   deployment: whom; NULL = the whole warehouse
--   kind: of the alert
--   channel: that was to have it; NULL = none is configured
--   status: waiting, sent, dead, too_old, silenced, unwanted, unopened; NULL = no channel
--   attempts: how often it was tried
--   error: why the last try failed
--   acknowledged_by: who has seen it; NULL = nobody yet
with newest as (
  select max(hour_utc) as hour_utc
  from alert_outbox
)

select
  alert.hour_utc,
  alert.deployment,
  alert.kind,
  delivery.channel,
  delivery.status,
  delivery.attempts,
  delivery.error,
  alert.acknowledged_by
from alert_outbox as alert
cross join newest
left join alert_deliveries as delivery
  on
    alert.dedup_key = delivery.dedup_key
    and alert.kind = delivery.kind
    and alert.level = delivery.level
where alert.hour_utc > newest.hour_utc - to_days(cast($days as integer))
order by
  case when delivery.status = 'dead' then 0 when delivery.status is null then 1 else 2 end asc,
  alert.hour_utc desc,
  alert.deployment asc,
  delivery.channel asc
limit 8
