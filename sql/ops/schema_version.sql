-- name: ops/schema_version
-- grain: one row
-- params: none
-- reads: ops.schema_version
-- units: none
-- why: which layout the warehouse has
select max(version) as version from ops.schema_version
