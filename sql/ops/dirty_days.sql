-- name: ops/dirty_days
-- grain: day
-- params: none
-- reads: ops.dirty_days
-- units: day_index
-- why: days whose curve and verdicts must be made again
select day_index
from ops.dirty_days
group by day_index
order by day_index
