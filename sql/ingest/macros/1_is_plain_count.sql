-- name: ingest/macros/1_is_plain_count
-- grain: scalar; field is JSON; true for a count without a token_fault, NULL or false where token_fault must look at it
-- params: none
-- reads: nothing
-- units: tokens
-- why: a cast and back costs a third of a regular expression; what comes back the same was a whole number
create or replace temp macro is_plain_count(field) as
  field is null
  or (try_cast(field::varchar as uinteger) <= 10000000 and try_cast(field::varchar as uinteger)::varchar = field::varchar)
