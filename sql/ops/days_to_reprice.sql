-- name: ops/days_to_reprice
-- grain: day
-- params: day_index BIGINT
-- reads: ops.days_to_reprice
-- units: day_index
-- why: whether the day takes the prices of the rows instead of those it was published with
select day_index
from ops.days_to_reprice
where day_index = $day_index
