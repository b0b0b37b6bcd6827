-- name: ops/dirty_days
-- grain: day
-- params: none
-- reads: ops.dirty_days, ops.dirty_hours
-- units: day_index
-- why: days whose curve or verdicts must be made again; a fit takes the day's marks and leaves one for the verdicts, so that
--      what is marked while they are made is not forgotten
select day_index
from ops.dirty_days
union
select hour_index // 24 as day_index
from ops.dirty_hours
where mart = 'valley_status'
order by day_index
