-- name: ops/days_over
-- grain: day
-- params: today BIGINT (exclusive)
-- reads: ops.days_to_close
-- units: day_index
-- why: days that are over and whose curves were last fitted while they ran
select day_index
from ops.days_to_close
where day_index < $today
