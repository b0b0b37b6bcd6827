-- name: ingest/macros/1_log_time
-- grain: scalar; the time stamp with an offset that a container runtime put in front of a line, as JSON; NULL where none is
-- params: none
-- reads: nothing
-- units: ISO 8601
-- why: it says when the line was written where the producer's own stamp has no offset
create or replace temp macro log_time(line) as
  to_json(nullif(regexp_extract(line, '^\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:?\d\d)'), ''))
