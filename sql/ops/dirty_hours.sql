-- name: ops/dirty_hours
-- grain: hour
-- params: mart VARCHAR, first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: ops.dirty_hours
-- units: hour_index
-- why: hours of a mart to recompute
select hour_index
from ops.dirty_hours
where mart = $mart and hour_index between $first_hour and $last_hour
group by hour_index
order by hour_index
