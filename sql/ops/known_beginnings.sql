-- name: ops/known_beginnings
-- grain: content of a file
-- params: content_sha256s VARCHAR[], format VARCHAR
-- reads: ops.ingest_files
-- units: bytes; nanoseconds; counts of lines
-- why: which of a file's beginnings were loaded, the longest first
select
  content_sha256,
  origin_sha256,
  content_bytes,
  path,
  size_bytes,
  modified_ns,
  reading,
  lines,
  loaded,
  quarantined,
  blank
from ops.ingest_files
where status = 'loaded' and format = $format and list_contains($content_sha256s, content_sha256)
order by content_bytes desc
