-- name: views/quarantine
-- grain: rejected line, or rejected file (source_line NULL)
-- params: none
-- reads: ops.quarantine
-- units: bytes
-- about: refused lines, with the reason
-- why: rejected lines, kept with a reason
select
  source_file,
  source_line,
  byte_offset,
  reason,
  excerpt,
  content_sha256
from ops.quarantine
