-- name: ingest/macros/2_ms_between_s
-- grain: scalar; both ends are JSON epoch seconds; what is no number passes through, to be refused by name
-- params: none
-- reads: nothing
-- units: seconds in, milliseconds out
-- why: producers that log points in time and no durations; decimals, since doubles lose microseconds at this magnitude
create or replace temp macro ms_between_s(started, ended) as
  case
    when is_absent(started) or is_absent(ended) then null
    when try_cast(started::varchar as decimal(24, 9)) is null then started
    when try_cast(ended::varchar as decimal(24, 9)) is null then ended
    else
      to_json((try_cast(ended::varchar as decimal(24, 9)) - try_cast(started::varchar as decimal(24, 9))) * 1000)
  end
