-- name: ingest/macros/2_name_text
-- grain: scalar; field is JSON; empty text counts as not reported
-- params: none
-- reads: nothing
-- units: none
create or replace temp macro name_text(field) as
  case
    when is_absent(field) then null
    -- Between the quotes of a text without escapes is the text itself.
    when starts_with(field::varchar, '"') and not contains(field::varchar, '\')
      then nullif(substring(field::varchar, 2, length(field::varchar) - 2), '')
    else nullif(field ->> '$', '')
  end
