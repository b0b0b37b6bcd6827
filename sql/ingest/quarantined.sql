-- name: ingest/quarantined
-- grain: rejected line
-- params: content_sha256 VARCHAR, source_file VARCHAR
-- reads: staged
-- units: bytes
-- why: the rows quarantine keeps
select
  $content_sha256 as content_sha256,
  $source_file as source_file,
  source_line,
  byte_offset,
  reason,
  excerpt
from staged
where reason is not null
