-- name: ops/small_files
-- grain: Parquet file
-- params: small_bytes BIGINT, day_index BIGINT
-- reads: ops.lake_files
-- units: none
-- why: they become one
select
  file,
  sha256
from ops.lake_files
where size_bytes < $small_bytes and day_index = $day_index
order by file
