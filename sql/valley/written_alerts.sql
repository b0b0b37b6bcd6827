-- name: valley/written_alerts
-- grain: alert
-- params: none
-- reads: ops.alert_outbox
-- units: none
-- why: alerts already recorded: the same episode never opens twice
select dedup_key, kind
from ops.alert_outbox
