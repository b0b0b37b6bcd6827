-- name: ingest/macros/2_ms_between
-- grain: scalar; both arguments are JSON, time stamps as text; NULL when one is not reported; one that is no time passes
--        through, to be refused by name
-- params: none
-- reads: nothing
-- units: milliseconds
-- why: some producers log moments where others log durations; an end before its beginning stays negative and is refused
create or replace temp macro ms_between(beginning, ending) as
  case
    when is_absent(beginning) or is_absent(ending) then null
    when moment(beginning) is null then beginning
    when moment(ending) is null then ending
    else to_json((epoch_us(moment(ending)) - epoch_us(moment(beginning))) / 1000.0)
  end
