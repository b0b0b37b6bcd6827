-- name: ingest/macros/2_token_count
-- grain: scalar; field is JSON without a token_fault
-- params: none
-- reads: nothing
-- units: tokens
create or replace temp macro token_count(field) as
  try_cast(field::varchar as bigint)
