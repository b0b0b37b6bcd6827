-- name: catalogue/macros
-- grain: macro
-- params: none
-- reads: the engine's catalogue
-- units: none
-- why: the functions that come with the snapshot, beside those of the engine
select
  function_name,
  parameters
from duckdb_functions()
where database_name = current_database() and schema_name = 'main' and function_type = 'macro' and not internal
order by function_name
