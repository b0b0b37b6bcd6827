-- name: schema/34_alert_deliveries
-- grain: alert × channel
-- params: none
-- reads: nothing
-- units: microseconds
-- why: what became of each alert at each channel. status: waiting (to be tried again), sent, dead (given up), too_old,
--      silenced, unwanted (the channel does not take it), unopened (its beginning was never sent). sent_as is the key it was sent under: its own or a digest's
create table if not exists ops.alert_deliveries (
  dedup_key varchar not null,
  kind varchar not null,
  level bigint not null,
  channel varchar not null,
  status varchar not null,
  attempts bigint not null,
  first_attempt_us bigint,
  next_attempt_us bigint,
  settled_us bigint,
  error varchar,
  sent_as varchar
)
