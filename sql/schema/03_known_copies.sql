-- name: schema/03_known_copies
-- grain: path
-- params: none
-- reads: nothing
-- units: bytes; nanoseconds
-- why: a second name of a content, or a later stamp of its own, is remembered so that it need not be read again to be
--   known: from an object store that would be a download in every run
create table if not exists ops.known_copies (
  path varchar not null,
  size_bytes bigint not null,
  modified_ns bigint not null,
  origin_sha256 varchar not null
)
