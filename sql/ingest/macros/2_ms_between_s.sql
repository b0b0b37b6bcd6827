-- name: ingest/macros/2_ms_between_s
-- grain: scalar; both arguments are JSON, seconds since 1970; NULL when one is not reported; one that is no number passes
--        through, to be refused by name
-- params: none
-- reads: nothing
-- units: seconds in, milliseconds out
-- why: some producers log moments where others log durations; an end before its beginning stays negative and is refused
create or replace temp macro ms_between_s(beginning, ending) as
  case
    when is_absent(beginning) or is_absent(ending) then null
    when json_type(beginning) not in ('UBIGINT', 'BIGINT', 'DOUBLE') then beginning
    when json_type(ending) not in ('UBIGINT', 'BIGINT', 'DOUBLE') then ending
    else ms_from_s(to_json(try_cast(ending::varchar as double) - try_cast(beginning::varchar as double)))
  end
