-- name: ops/quarantined_before
-- grain: one row
-- params: content_sha256 VARCHAR, first_line BIGINT
-- reads: ops.quarantine
-- units: counts of lines
-- why: refused lines that stay refused when the file has grown
select count(*) as n_quarantined
from ops.quarantine
where content_sha256 = $content_sha256 and source_line < $first_line
