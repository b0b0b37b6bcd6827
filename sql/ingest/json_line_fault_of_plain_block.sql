-- name: ingest/json_line_fault_of_plain_block
-- grain: scalar; as ingest/macros/1_json_line_fault, for a block without any repeated key
-- params: none
-- reads: nothing
-- units: none
-- why: looking for repeated keys line by line costs more than parsing the line; ingest/key_lists looks at a whole block
create or replace temp macro json_line_fault(line) as
  case
    when not json_valid(line) then 'not_json'
    when not starts_with(ltrim(line), '{') then 'not_an_object'
  end
