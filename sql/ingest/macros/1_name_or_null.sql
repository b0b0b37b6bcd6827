-- name: ingest/macros/1_name_or_null
-- grain: scalar; field is JSON; NULL for a null and for an empty text
-- params: none
-- reads: nothing
-- units: none
-- why: for coalesce: an empty name does not stand in the way of the next one
create or replace temp macro name_or_null(field) as
  nullif(nullif(field, 'null'), '""')
