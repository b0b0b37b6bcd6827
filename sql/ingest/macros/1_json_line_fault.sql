-- name: ingest/macros/1_json_line_fault
-- grain: scalar; NULL when the line is a JSON object without repeated keys
-- params: none
-- reads: nothing
-- units: none
-- why: of a repeated key one value would be lost silently
create or replace temp macro json_line_fault(line) as
  case
    when not json_valid(line) then 'not_json'
    when not starts_with(ltrim(line), '{') then 'not_an_object'
    when len(json_keys(line)) <> list_unique(json_keys(line)) then 'duplicate_key'
  end
