-- name: ops/clean_unpublished_days
-- grain: statement
-- params: none
-- reads: ops.unpublished_days
-- units: none
-- why: once snapshot and report are in place
delete from ops.unpublished_days
