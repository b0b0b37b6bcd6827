-- name: ops/forget_rejected_row
-- grain: statement
-- params: path VARCHAR
-- reads: ops.quarantine
-- units: none
-- why: goes with ops/forget_rejected_file
delete from ops.quarantine
where source_file = $path and source_line is null
