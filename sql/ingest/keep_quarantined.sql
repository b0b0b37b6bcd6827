-- name: ingest/keep_quarantined
-- grain: statement
-- params: content_sha256 VARCHAR
-- reads: staged, ops.quarantine
-- units: none
-- why: a second reading with other settings concerns the lines that the first one refused
delete from staged
where source_line not in (
  select source_line from ops.quarantine where content_sha256 = $content_sha256 and source_line is not null
)
