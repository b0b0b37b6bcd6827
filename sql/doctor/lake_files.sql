-- name: doctor/lake_files
-- grain: Parquet file
-- params: none
-- reads: ops.lake_files
-- units: day_index; bytes
-- why: what must be there, and how the lake grows
select
  file,
  day_index,
  size_bytes
from ops.lake_files
order by day_index, file
