-- name: ops/known_file
-- grain: one row or none; two where what was loaded of a file is now refused
-- params: path VARCHAR, size_bytes BIGINT, modified_ns BIGINT
-- reads: ops.ingest_files, ops.known_copies
-- units: bytes; nanoseconds
-- why: a file untouched since it was read needs no second look, unless its last line was left waiting
select
  status,
  reading,
  quarantined
from ops.ingest_files
where path = $path and size_bytes = $size_bytes and modified_ns = $modified_ns and waiting_bytes = 0
union all
select
  files.status,
  files.reading,
  files.quarantined
from ops.known_copies as copies
join ops.ingest_files as files on copies.origin_sha256 = files.origin_sha256
where copies.path = $path and copies.size_bytes = $size_bytes and copies.modified_ns = $modified_ns
order by status = 'loaded' desc
