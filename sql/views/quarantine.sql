-- name: views/quarantine
-- grain: rejected line, or rejected file (source_line NULL)
-- params: none
-- reads: ops.quarantine
-- units: bytes
-- why: rejected lines, kept with a reason; line_bytes is the length of the line, NULL of a file; excerpt is NULL of a line
--      unless the configuration keeps excerpts, and after the days it keeps them for
select
  source_file,
  source_line,
  byte_offset,
  reason,
  line_bytes,
  excerpt,
  content_sha256
from ops.quarantine
