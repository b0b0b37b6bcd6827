-- name: ops/known_content
-- grain: one row or none
-- params: content_sha256 VARCHAR
-- reads: ops.ingest_files
-- units: counts of lines
-- why: was this content read before, under whatever name, and with which settings
select
  path,
  status,
  reading,
  quarantined
from ops.ingest_files
where content_sha256 = $content_sha256
