-- name: schema/34_alert_outbox
-- grain: alert
-- params: none
-- reads: nothing
-- units: none
-- why: written in the transaction that changes the state; delivery marks delivered_us
create table if not exists ops.alert_outbox (
  dedup_key varchar not null,
  kind varchar not null,
  deployment varchar not null,
  hour_index bigint not null,
  message varchar not null,
  written_us bigint not null,
  delivered_us bigint
)
