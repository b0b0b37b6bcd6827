-- name: ingest/macros/1_is_plain_latency
-- grain: scalar; field is JSON; true for a latency without a latency_fault, NULL or false where latency_fault must look at it
-- params: none
-- reads: nothing
-- units: milliseconds
-- why: as is_plain_count; text and true are no numbers to a cast, since JSON keeps the quotes
create or replace temp macro is_plain_latency(field) as
  field is null
  or (try_cast(field::varchar as double) between 0 and 86400000 and not starts_with(field::varchar, '-'))
