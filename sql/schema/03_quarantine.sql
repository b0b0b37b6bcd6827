-- name: schema/03_quarantine
-- grain: rejected line, or rejected file (source_line NULL)
-- params: none
-- reads: nothing
-- units: none
-- why: nothing is dropped silently
create table if not exists ops.quarantine (
  content_sha256 varchar not null,
  source_file varchar not null,
  source_line bigint,
  byte_offset bigint,
  reason varchar not null,
  excerpt varchar
)
