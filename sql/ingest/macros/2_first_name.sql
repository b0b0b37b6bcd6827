-- name: ingest/macros/2_first_name
-- grain: scalar; fields is a list of JSON; the first that is reported and not empty text
-- params: none
-- reads: nothing
-- units: none
-- why: gateways write "" for names they do not know
create or replace temp macro first_name(fields) as
  list_filter(fields, lambda field: not is_absent(field) and field <> '""')[1]
