-- name: ops/clear_quarantine_of
-- grain: statement
-- params: content_sha256 VARCHAR
-- reads: ops.quarantine
-- units: none
-- why: in the transaction that quarantines anew what is still refused
delete from ops.quarantine
where content_sha256 = $content_sha256
