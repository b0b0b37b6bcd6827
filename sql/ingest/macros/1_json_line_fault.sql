-- name: ingest/macros/1_json_line_fault
-- grain: scalar; NULL for a line that is one JSON object without a repeated key
-- params: none
-- reads: variable plain_key_lists (ingest/plain_key_lists)
-- units: none
-- why: of two values under one key readers disagree which one counts; known lists of keys need no second look
create or replace temp macro json_line_fault(line) as
  case
    when starts_with(line, '{') and list_contains(getvariable('plain_key_lists'), hash(try(json_keys(line)))) then null
    when not json_valid(line) then 'not_json'
    when not starts_with(ltrim(line), '{') then 'not_an_object'
    when len(json_keys(line)) <> list_unique(json_keys(line)) then 'duplicate_key'
  end
