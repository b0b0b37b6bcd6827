-- name: ingest/macros/1_utc_text
-- grain: scalar; field is JSON; a time stamp without an offset gets that of UTC, everything else passes through
-- params: none
-- reads: nothing
-- units: none
-- why: for producers whose documentation says that their columns are UTC; where it does not, the source has to
create or replace temp macro utc_text(field) as
  case
    when regexp_full_match(field ->> '$', '\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d{1,9})?') then to_json((field ->> '$') || 'Z')
    else field
  end
