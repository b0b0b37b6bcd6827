-- name: views/ingest_files
-- grain: content of a file
-- params: none
-- reads: ops.ingest_files
-- units: bytes; counts of lines
-- about: what became of every log: lines loaded, duplicate, quarantined
-- why: what became of every file: lines = loaded + duplicates + quarantined + blank; lines is NULL for a rejected file;
--      content_bytes were judged (decompressed), waiting_bytes after them are a line that is still being written
select
  content_sha256,
  path,
  source_name,
  format,
  size_bytes,
  content_bytes,
  waiting_bytes,
  status,
  reason,
  detail,
  lines,
  loaded,
  duplicates,
  quarantined,
  blank,
  make_timestamp(loaded_us) as loaded_at
from ops.ingest_files
