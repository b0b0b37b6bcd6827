-- name: ops/earlier_changes
-- grain: mark
-- params: day_index BIGINT
-- reads: ops.dirty_days
-- units: day_index
-- why: marks of a day that its own requests did not leave: its curves rest on other days' requests too, and on policy
select from_day_index
from ops.dirty_days
where day_index = $day_index and (from_day_index is null or from_day_index != $day_index)
