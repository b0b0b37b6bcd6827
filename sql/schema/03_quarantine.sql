-- name: schema/03_quarantine
-- grain: rejected line, or rejected file (source_line NULL)
-- params: none
-- reads: nothing
-- units: bytes; microseconds
-- why: nothing is dropped silently. The excerpt of a line is NULL unless [privacy] keeps it, and once it is too old; that of
--      a file says what is wrong with it
create table if not exists ops.quarantine (
  content_sha256 varchar not null,
  source_file varchar not null,
  source_line bigint,
  byte_offset bigint,
  reason varchar not null,
  line_bytes bigint,
  excerpt varchar,
  refused_us bigint not null
)
