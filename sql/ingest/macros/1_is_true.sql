-- name: ingest/macros/1_is_true
-- grain: scalar; field is JSON; never NULL
-- params: none
-- reads: nothing
-- units: none
-- why: exports write booleans as true, "True" or "true"; everything else, absence too, is not true
create or replace temp macro is_true(field) as
  coalesce(lower(field ->> '$') = 'true', false)
