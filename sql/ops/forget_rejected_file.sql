-- name: ops/forget_rejected_file
-- grain: statement
-- params: path VARCHAR
-- reads: ops.ingest_files
-- units: none
-- why: a file has one fate at a time: an earlier refusal of the same path gives way to what happens to it now
delete from ops.ingest_files
where path = $path and status = 'rejected'
