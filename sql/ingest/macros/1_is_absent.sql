-- name: ingest/macros/1_is_absent
-- grain: scalar; field is JSON
-- params: none
-- reads: nothing
-- units: none
-- why: a missing key and a JSON null both mean "not reported"
create or replace temp macro is_absent(field) as
  field is null or field::varchar = 'null'
