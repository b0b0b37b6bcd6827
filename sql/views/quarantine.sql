-- name: views/quarantine
-- grain: rejected line, or rejected file (source_line NULL)
-- params: none
-- reads: ops.quarantine
-- units: bytes
-- about: refused lines, with the reason
-- why: rejected lines, kept with a reason
-- comments:
--   source_file: path or URL of the log file
--   source_line: line in it, from 1; NULL = the whole file
--   byte_offset: where the line begins in the decompressed content [bytes]
--   reason: code of the rule that refused it
--   excerpt: the beginning of the line
--   content_sha256: SHA-256 of the file's decompressed content
select
  source_file,
  source_line,
  byte_offset,
  reason,
  excerpt,
  content_sha256
from ops.quarantine
