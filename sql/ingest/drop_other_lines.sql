-- name: ingest/drop_other_lines
-- grain: statement
-- params: none
-- reads: staged
-- units: none
-- why: lines of a log that are no requests are counted with the blank ones
delete from staged
where reason = 'not_a_request'
