-- name: valley/written_alerts
-- grain: alert
-- params: none
-- reads: ops.alert_outbox
-- units: hour_index; ratio
-- why: alerts already recorded: the same episode never opens twice
select
  dedup_key,
  kind,
  action,
  level,
  deployment,
  hour_index,
  depth
from ops.alert_outbox
order by hour_index, deployment, kind, level
