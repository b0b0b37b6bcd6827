-- name: doctor/known_files
-- grain: path, as it was when it was last read
-- params: none
-- reads: ops.ingest_files, ops.known_copies
-- units: bytes; nanoseconds
-- why: a file that is not among them waits to be loaded, or has changed since
select
  path,
  size_bytes,
  modified_ns
from ops.ingest_files
union
select
  path,
  size_bytes,
  modified_ns
from ops.known_copies
