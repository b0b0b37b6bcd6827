-- name: ingest/macros/2_instants_of_local
-- grain: scalar; a list of the instants at which local clocks of a zone show a time: one, none or two
-- params: none
-- reads: nothing
-- units: microseconds since 1970-01-01T00:00 local in, microseconds since 1970-01-01T00:00:00Z out
-- why: a time that clocks skip or show twice must be seen, where timezone() takes the next best one. Offsets in force a day
--      before and a day after are the only ones in question: no zone changes its offset twice in two days
create or replace temp macro instants_of_local(local_us, zone) as
  case
    when local_us is not null
      then list_filter(
        list_distinct([
          local_us - local_offset_us(local_us - 86400000000, zone),
          local_us - local_offset_us(local_us + 86400000000, zone)
        ]),
        lambda instant: local_offset_us(instant, zone) = local_us - instant
      )
  end
