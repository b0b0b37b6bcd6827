-- name: alerts/deliveries
-- grain: alert × channel
-- params: none
-- reads: ops.alert_deliveries
-- units: microseconds
-- why: what became of alerts at each channel
select
  dedup_key,
  kind,
  level,
  channel,
  status,
  attempts,
  first_attempt_us,
  next_attempt_us,
  settled_us,
  error
from ops.alert_deliveries
order by channel
