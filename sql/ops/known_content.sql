-- name: ops/known_content
-- grain: one row or none; two where a beginning of one file was loaded as another
-- params: content_sha256 VARCHAR
-- reads: ops.ingest_files
-- units: counts of lines
-- why: was this content read before, under whatever name, and with which settings
select
  content_sha256,
  origin_sha256,
  path,
  status,
  reading,
  quarantined
from ops.ingest_files
where content_sha256 = $content_sha256 or origin_sha256 = $content_sha256
order by content_sha256 = $content_sha256 desc
