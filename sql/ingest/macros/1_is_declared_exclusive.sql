-- name: ingest/macros/1_is_declared_exclusive
-- grain: scalar; never NULL; true when the source declares that its input counts leave out cached and written tokens
-- params: none
-- reads: nothing
-- units: none
-- why: one spelling of the session's variable, which the ingest sets for every source
create or replace temp macro is_declared_exclusive() as
  coalesce(getvariable('input_tokens') = 'exclusive', false)
