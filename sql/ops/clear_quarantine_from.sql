-- name: ops/clear_quarantine_from
-- grain: statement
-- params: content_sha256 VARCHAR, first_line BIGINT
-- reads: ops.quarantine
-- units: none
-- why: a last line that was refused as it stood has gone on and is judged anew
delete from ops.quarantine
where content_sha256 = $content_sha256 and source_line >= $first_line
