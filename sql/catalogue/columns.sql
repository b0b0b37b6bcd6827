-- name: catalogue/columns
-- grain: view × column
-- params: none
-- reads: the engine's catalogue
-- units: none
-- why: what ad-hoc SQL may read, for help, completion and messages; lake is the inside of requests
select
  views.view_name,
  columns.column_name,
  columns.data_type,
  columns.comment
from duckdb_views() as views
inner join duckdb_columns() as columns
  on
    views.database_name = columns.database_name
    and views.schema_name = columns.schema_name
    and views.view_name = columns.table_name
where
  views.database_name = current_database()
  and views.schema_name = 'main'
  and not views.internal
  and views.view_name <> 'lake'
order by views.view_name, columns.column_index
