-- name: ops/lake_days
-- grain: day with requests
-- params: none
-- reads: ops.lake_files
-- units: day_index
-- why: days that can have marts
select day_index
from ops.lake_files
group by day_index
order by day_index
