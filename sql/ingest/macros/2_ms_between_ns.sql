-- name: ingest/macros/2_ms_between_ns
-- grain: scalar; both arguments are JSON, integer nanoseconds since 1970; NULL when one is not reported; one that is no
--        integer passes through, to be refused by name
-- params: none
-- reads: nothing
-- units: nanoseconds in, milliseconds out
-- why: subtracted as integers: a double holds today's nanoseconds only to 256 of them
create or replace temp macro ms_between_ns(beginning, ending) as
  case
    when is_absent(beginning) or is_absent(ending) then null
    when try_cast(beginning::varchar as bigint) is null then beginning
    when try_cast(ending::varchar as bigint) is null then ending
    else ms_from_ns(to_json(
      try_cast(ending::varchar as bigint)::hugeint - try_cast(beginning::varchar as bigint)::hugeint
    ))
  end
