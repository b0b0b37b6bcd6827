-- name: ops/lake_files
-- grain: Parquet file
-- params: none
-- reads: ops.lake_files
-- units: none
-- why: the whole lake
select file
from ops.lake_files
order by day_index, file
