-- name: valley/written_alerts
-- grain: alert
-- params: none
-- reads: ops.alert_outbox
-- units: none
-- why: alerts already recorded: the same episode never opens twice
select
  dedup_key,
  kind,
  deployment,
  hour_index
from ops.alert_outbox
order by hour_index, deployment, kind
