-- name: ingest/macros/1_moment
-- grain: scalar; field is JSON; NULL when it is no ISO 8601 text
-- params: none
-- reads: nothing
-- units: none
-- why: years of four digits only, so that no difference of two moments overflows
create or replace temp macro moment(field) as
  case
    when regexp_full_match(field ->> '$', '\d{4}-\d\d-\d\d[T ].*') then try_cast(field ->> '$' as timestamptz)
  end
