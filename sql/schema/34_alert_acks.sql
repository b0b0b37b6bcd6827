-- name: schema/34_alert_acks
-- grain: alert key
-- params: none
-- reads: nothing
-- units: microseconds
-- why: who has seen it
create table if not exists ops.alert_acks (
  dedup_key varchar not null,
  acknowledged_us bigint not null,
  acknowledged_by varchar not null,
  note varchar
)
