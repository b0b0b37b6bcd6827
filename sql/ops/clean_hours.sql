-- name: ops/clean_hours
-- grain: statement
-- params: mart VARCHAR, first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: ops.dirty_hours
-- units: hour_index
-- why: in the transaction that replaces the hours
delete from ops.dirty_hours
where mart = $mart and hour_index between $first_hour and $last_hour
