-- name: ops/lake_sizes
-- grain: Parquet file
-- params: none
-- reads: ops.lake_files
-- units: bytes
-- why: a rebuilt warehouse must have the lake its manifest speaks of
select file, size_bytes
from ops.lake_files
order by day_index, file
