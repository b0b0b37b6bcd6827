-- name: ops/requests_of_day
-- grain: one row
-- params: day_index BIGINT
-- reads: ops.lake_files
-- units: day_index = whole days since 1970-01-01
-- why: how much of a day fits the memory at once
select coalesce(sum(n_requests), 0)::bigint as n_requests
from ops.lake_files
where day_index = $day_index
