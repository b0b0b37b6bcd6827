-- name: ingest/macros/1_is_plain_name
-- grain: scalar; field is JSON; true for a name without a name_fault, false where name_fault must look at it
-- params: none
-- reads: nothing
-- units: none
create or replace temp macro is_plain_name(field) as
  field is null or (starts_with(field::varchar, '"') and strlen(field::varchar) <= 256)
