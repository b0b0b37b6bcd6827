-- name: export/columns
-- grain: column of the published view
-- params: view VARCHAR
-- reads: the engine's catalogue
-- units: none
-- why: what a copy of the view elsewhere has to be made of, and what the catalogue says of view and column
select
  columns.column_name,
  columns.data_type,
  columns.comment as column_comment,
  views.comment as view_comment
from duckdb_columns() as columns
inner join duckdb_views() as views
  on
    views.database_name = columns.database_name
    and views.schema_name = columns.schema_name
    and views.view_name = columns.table_name
where
  columns.database_name = current_database()
  and columns.schema_name = 'main'
  and columns.table_name = $view
order by columns.column_index
