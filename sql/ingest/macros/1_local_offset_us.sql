-- name: ingest/macros/1_local_offset_us
-- grain: scalar; zone is an IANA name
-- params: none
-- reads: nothing
-- units: microseconds since 1970-01-01T00:00:00Z in, microseconds by which local clocks are ahead of UTC then out
-- why: from the zones of the engine, which come with its pinned version, not from those of the machine
create or replace temp macro local_offset_us(utc_us, zone) as
  epoch_us(timezone(zone, make_timestamptz(utc_us))) - utc_us
