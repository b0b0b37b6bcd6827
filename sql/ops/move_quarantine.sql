-- name: ops/move_quarantine
-- grain: statement
-- params: content_sha256 VARCHAR, grown_sha256 VARCHAR, source_file VARCHAR
-- reads: ops.quarantine
-- units: none
-- why: refused lines belong to the content that has grown out of theirs, under the name it has now
update ops.quarantine
set content_sha256 = $grown_sha256, source_file = $source_file
where content_sha256 = $content_sha256
