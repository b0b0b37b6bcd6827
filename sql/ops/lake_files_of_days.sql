-- name: ops/lake_files_of_days
-- grain: Parquet file
-- params: first_day BIGINT, last_day BIGINT (day_index, inclusive)
-- reads: ops.lake_files
-- units: day_index = whole days since 1970-01-01
-- why: the part of the lake that a day's marts read
select file, sha256
from ops.lake_files
where day_index between $first_day and $last_day
order by day_index, file
