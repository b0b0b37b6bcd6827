-- name: shown/requests_of_day
-- grain: one row
-- params: day_index BIGINT
-- reads: ops.lake_files
-- units: requests
-- why: how many requests of a day there are, as the orchestrator shows it
select cast(coalesce(sum(n_requests), 0) as bigint) as n_requests
from ops.lake_files
where day_index = $day_index
