-- name: views/quarantine
-- grain: rejected line, or rejected file (source_line NULL)
-- params: none
-- reads: ops.quarantine
-- units: bytes
-- about: refused lines, with the reason
-- why: rejected lines, kept with a reason; excerpt is NULL of a line unless the configuration keeps excerpts, and after the
--      days it keeps them for
-- comments:
--   source_file: path or URL of the log file
--   source_line: line in it, from 1; NULL = the whole file
--   byte_offset: where the line begins in the decompressed content [bytes]
--   reason: code of the rule that refused it
--   line_bytes: length of the line as it was read [bytes]; NULL = the whole file
--   excerpt: the beginning of the line, where [privacy] keeps it; of a file, what is wrong with it
--   content_sha256: SHA-256 of the file's decompressed content
select
  source_file,
  source_line,
  byte_offset,
  reason,
  line_bytes,
  excerpt,
  content_sha256
from ops.quarantine
