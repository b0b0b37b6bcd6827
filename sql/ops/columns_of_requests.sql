-- name: ops/columns_of_requests
-- grain: column of the lake, in order
-- params: none
-- reads: nothing
-- units: none
-- why: an engine that infers columns from the files it is given lacks those that older files have not
select column_name, data_type
from duckdb_columns()
where schema_name = 'core' and table_name = 'no_requests' and database_name = current_database()
order by column_index
