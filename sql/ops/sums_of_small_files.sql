-- name: ops/sums_of_small_files
-- grain: one row
-- params: small_bytes BIGINT, day_index BIGINT
-- reads: ops.lake_files
-- units: day_index; counts of requests
-- why: what the one that replaces them holds
select
  day_index,
  max(last_day_index) as last_day_index,
  cast(sum(n_requests) as bigint) as n_requests
from ops.lake_files
where size_bytes < $small_bytes and day_index = $day_index
group by day_index
