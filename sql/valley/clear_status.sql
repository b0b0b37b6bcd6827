-- name: valley/clear_status
-- grain: statement
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.valley_status
-- units: hour_index
-- why: in the transaction that inserts the same hours anew
delete from mart.valley_status
where hour_index between $first_hour and $last_hour
