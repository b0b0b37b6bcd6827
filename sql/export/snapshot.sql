-- name: export/snapshot
-- grain: one row
-- params: none
-- reads: the engine's catalogue, ops.schema_version
-- units: none
-- why: which published file is read; a newer one may be there when that is asked of the folder
select
  parse_filename(databases.path) as snapshot,
  versions.version as layout
from duckdb_databases() as databases
cross join ops.schema_version as versions
where databases.database_name = current_database()
