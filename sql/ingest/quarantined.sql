-- name: ingest/quarantined
-- grain: rejected line
-- params: content_sha256 VARCHAR, source_file VARCHAR, refused_us BIGINT
-- reads: staged
-- units: bytes
-- why: the rows quarantine keeps
select
  $content_sha256 as content_sha256,
  $source_file as source_file,
  source_line,
  byte_offset,
  reason,
  line_bytes,
  excerpt,
  $refused_us as refused_us
from staged
where reason is not null
