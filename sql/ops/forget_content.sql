-- name: ops/forget_content
-- grain: statement
-- params: content_sha256 VARCHAR
-- reads: ops.ingest_files
-- units: none
-- why: in the transaction that lists the content which has grown out of it
delete from ops.ingest_files
where content_sha256 = $content_sha256
