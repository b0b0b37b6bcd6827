-- name: ingest/clear_staged
-- grain: statement
-- params: none
-- reads: staged
-- units: none
-- why: one file is staged at a time
delete from staged
