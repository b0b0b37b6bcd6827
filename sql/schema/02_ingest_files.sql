-- name: schema/02_ingest_files
-- grain: content of a file
-- params: none
-- reads: nothing
-- units: bytes; counts of lines
-- why: the primary key makes a second, concurrent load of the same content fail as a whole; a log that grows keeps one
--      row, whose origin is the content it was first loaded as; its last bytes may wait for the end of their line
create table if not exists ops.ingest_files (
  content_sha256 varchar primary key,
  path varchar not null,
  source_name varchar not null,
  format varchar not null,
  reading varchar not null,
  size_bytes bigint not null,
  modified_ns bigint not null,
  status varchar not null,
  reason varchar,
  detail varchar,
  lines bigint,
  loaded bigint not null,
  duplicates bigint,
  quarantined bigint,
  blank bigint,
  origin_sha256 varchar,
  content_bytes bigint,
  head_sha256 varchar,
  waiting_bytes bigint not null default 0,
  loaded_us bigint not null
)
