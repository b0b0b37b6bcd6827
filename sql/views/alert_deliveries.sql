-- name: views/alert_deliveries
-- grain: alert × channel
-- params: none
-- reads: ops.alert_deliveries
-- units: none
-- about: what became of each alert at each channel: sent, waiting, dead, and why
-- why: what became of each alert at each channel: waiting, sent, dead, too_old, silenced, unwanted, unopened
-- comments:
--   dedup_key: key of the alert
--   kind: kind of the alert
--   level: level of the alert
--   channel: name of the channel in the configuration
--   status: waiting, sent, dead, too_old, silenced, unwanted or unopened
--   attempts: how often it was tried
--   first_attempt_at: first try, UTC
--   next_attempt_at: not tried again before, UTC; NULL = settled
--   settled_at: when the status became final, UTC; NULL = waiting
--   error: why the last try failed
--   sent_as: key it was sent under: its own, or a digest's; NULL = not sent
select
  dedup_key,
  kind,
  level,
  channel,
  status,
  attempts,
  make_timestamp(first_attempt_us) as first_attempt_at,
  make_timestamp(next_attempt_us) as next_attempt_at,
  make_timestamp(settled_us) as settled_at,
  error,
  sent_as
from ops.alert_deliveries
