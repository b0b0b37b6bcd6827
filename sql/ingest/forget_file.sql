-- name: ingest/forget_file
-- grain: statement
-- params: file VARCHAR
-- reads: ops.lake_files
-- units: none
-- why: its successor is listed in the same transaction
delete from ops.lake_files
where file = $file
