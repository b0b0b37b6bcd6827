-- name: ingest/macros/1_json_from_text
-- grain: scalar; text is a value cut out of a text log; empty text and Python's None are not reported
-- params: none
-- reads: nothing
-- units: none
-- why: what is no number becomes a JSON text, to be refused by name like any other
create or replace temp macro json_from_text(text) as
  case when text not in ('', 'None') then coalesce(try_cast(text as json), to_json(text)) end
