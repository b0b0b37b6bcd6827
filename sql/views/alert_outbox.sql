-- name: views/alert_outbox
-- grain: alert
-- params: none
-- reads: ops.alert_outbox
-- units: none
-- why: alerts as recorded; delivered_at is NULL until something has delivered them
select
  dedup_key,
  kind,
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  message,
  make_timestamp(written_us) as written_at,
  make_timestamp(delivered_us) as delivered_at
from ops.alert_outbox
