-- name: ingest/macros/1_unwrapped_json
-- grain: scalar; field is JSON; JSON that is written as text inside of JSON is taken out of it, once
-- params: none
-- reads: nothing
-- units: none
-- why: databases export their JSON columns as text, some tools quote that text once more; other text stays text
create or replace temp macro unwrapped_json(field) as
  case
    when json_type(field) = 'VARCHAR' and json_valid(field ->> '$') then (field ->> '$')::json
    else field
  end
