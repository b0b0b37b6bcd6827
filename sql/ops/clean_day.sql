-- name: ops/clean_day
-- grain: statement
-- params: day_index BIGINT
-- reads: ops.dirty_days
-- units: day_index
-- why: in the transaction that replaces the day's curves and marks its verdicts
delete from ops.dirty_days
where day_index = $day_index
