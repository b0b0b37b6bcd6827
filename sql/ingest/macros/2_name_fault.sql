-- name: ingest/macros/2_name_fault
-- grain: scalar; field is JSON; NULL when the field can serve as a name
-- params: none
-- reads: nothing
-- units: none
create or replace temp macro name_fault(field) as
  case
    when is_absent(field) then null
    when starts_with(field::varchar, '"') and strlen(field::varchar) <= 256 then null
    when json_type(field) not in ('VARCHAR', 'UBIGINT', 'BIGINT') then 'name_is_not_text'
    when length(field ->> '$') > 256 then 'name_too_long'
  end
