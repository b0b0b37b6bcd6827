-- name: ops/known_lengths
-- grain: length of a content
-- params: head_sha256 VARCHAR, head_bytes BIGINT, format VARCHAR
-- reads: ops.ingest_files
-- units: bytes
-- why: a file that begins like a known one may have grown out of it; contents shorter than a head have none
select distinct content_bytes
from ops.ingest_files
where
  status = 'loaded'
  and format = $format
  and content_bytes > 0
  and (head_sha256 = $head_sha256 or content_bytes < $head_bytes)
order by content_bytes
