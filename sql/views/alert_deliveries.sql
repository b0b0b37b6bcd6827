-- name: views/alert_deliveries
-- grain: alert × channel
-- params: none
-- reads: ops.alert_deliveries
-- units: none
-- about: what became of each alert at each channel: sent, waiting, dead, and why
-- why: what became of each alert at each channel: waiting, sent, dead, too_old, silenced, unwanted, unopened
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
