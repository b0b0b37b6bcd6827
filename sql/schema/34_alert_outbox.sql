-- name: schema/34_alert_outbox
-- grain: alert
-- params: none
-- reads: nothing
-- units: hour_index; ratio; microseconds
-- why: written in the transaction that changes the state. dedup_key names what it is about from beginning to end; level
--      tells several of one kind apart (how often the depth has doubled); action is what the kind does to the alert of its
--      key: trigger, update, resolve; depth is the deepest the episode was when told; deployment is NULL where the whole
--      warehouse is meant
create table if not exists ops.alert_outbox (
  dedup_key varchar not null,
  kind varchar not null,
  action varchar not null,
  level bigint not null,
  deployment varchar,
  hour_index bigint not null,
  depth double,
  message varchar not null,
  written_us bigint not null
)
