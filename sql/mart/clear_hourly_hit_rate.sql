-- name: mart/clear_hourly_hit_rate
-- grain: statement
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.hourly_hit_rate
-- units: hour_index
-- why: in the transaction that inserts the same hours anew
delete from mart.hourly_hit_rate
where hour_index between $first_hour and $last_hour
