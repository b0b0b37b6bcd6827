-- name: ops/known_content
-- grain: one row or none
-- params: content_sha256 VARCHAR
-- reads: ops.ingest_files
-- units: none
-- why: was this content read before, under whatever name
select path, status, lines, loaded
from ops.ingest_files
where content_sha256 = $content_sha256
