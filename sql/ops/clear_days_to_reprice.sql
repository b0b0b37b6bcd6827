-- name: ops/clear_days_to_reprice
-- grain: statement
-- params: day_index BIGINT
-- reads: ops.days_to_reprice
-- units: day_index
-- why: in the transaction that judges the day
delete from ops.days_to_reprice
where day_index = $day_index
