-- name: views/ingest_files
-- grain: content of a file
-- params: none
-- reads: ops.ingest_files
-- units: bytes; counts of lines
-- about: what became of every log: lines loaded, duplicate, quarantined
-- why: what became of every file: lines = loaded + duplicates + quarantined + blank; lines is NULL for a rejected file;
--      content_bytes were judged (decompressed), waiting_bytes after them are a line that is still being written
-- comments:
--   content_sha256: SHA-256 of the decompressed content: the file's identity
--   path: path or URL it was found under first
--   source_name: name of the source in the configuration
--   format: log format, see `valleywatch formats`
--   size_bytes: size as stored [bytes]
--   content_bytes: decompressed bytes that were judged [bytes]
--   waiting_bytes: bytes after them, of a line that is still being written [bytes]
--   status: loaded or rejected
--   reason: code of the rule that rejected the file; NULL = loaded
--   detail: evidence and remedy in words
--   lines: loaded + duplicates + quarantined + blank [lines]; NULL = rejected
--   loaded: lines that became requests [lines]
--   duplicates: lines whose request is counted from another record [lines]
--   quarantined: lines refused with a reason, see quarantine [lines]
--   blank: empty lines and those that are no request [lines]
--   loaded_at: when it was loaded, UTC
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
