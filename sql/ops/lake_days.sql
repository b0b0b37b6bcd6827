-- name: ops/lake_days
-- grain: day with arrivals or first tokens
-- params: none
-- reads: ops.lake_files
-- units: day_index
-- why: days that can have marts
select day_index
from ops.lake_files
union
select last_day_index as day_index
from ops.lake_files
order by day_index
