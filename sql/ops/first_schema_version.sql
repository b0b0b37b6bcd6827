-- name: ops/first_schema_version
-- grain: one row
-- params: version INTEGER
-- reads: ops.schema_version
-- units: none
-- why: written once, when the warehouse is created
insert into ops.schema_version
select $version
where not exists (select 1 from ops.schema_version)
