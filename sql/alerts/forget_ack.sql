-- name: alerts/forget_ack
-- grain: statement
-- params: dedup_key VARCHAR
-- reads: ops.alert_acks
-- units: none
-- why: the newest acknowledgement stands for the alert
delete from ops.alert_acks
where dedup_key = $dedup_key
