-- name: ingest/macros/2_name_text
-- grain: scalar; field is JSON; empty text counts as not reported
-- params: none
-- reads: nothing
-- units: none
create or replace temp macro name_text(field) as
  nullif(field ->> '$', '')
