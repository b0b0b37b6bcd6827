-- name: alerts/revive
-- grain: statement
-- params: dedup_key VARCHAR (a beginning of a key; empty: all)
-- reads: ops.alert_deliveries
-- units: none
-- why: what was given up is due again, as if it had never been tried
delete from ops.alert_deliveries
where status = 'dead' and starts_with(dedup_key, $dedup_key)
