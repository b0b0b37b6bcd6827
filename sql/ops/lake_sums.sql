-- name: ops/lake_sums
-- grain: Parquet file
-- params: none
-- reads: ops.lake_files
-- units: none
-- why: a rebuilt warehouse must have the lake its manifest speaks of
select file, sha256
from ops.lake_files
order by day_index, file
