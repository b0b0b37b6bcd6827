-- name: ingest/macros/2_first_of
-- grain: scalar; each argument is JSON; the first that is reported
-- params: none
-- reads: nothing
-- units: none
-- why: producers renamed keys between versions
create or replace temp macro first_of(a, b, c) as
  case when not is_absent(a) then a when not is_absent(b) then b when not is_absent(c) then c end
