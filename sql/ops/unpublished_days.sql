-- name: ops/unpublished_days
-- grain: day
-- params: none
-- reads: ops.unpublished_days
-- units: day_index
-- why: what readers cannot see yet
select day_index
from ops.unpublished_days
group by day_index
order by day_index
