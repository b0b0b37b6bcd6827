-- name: mart/clear_hit_rate_histogram
-- grain: statement
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.hit_rate_histogram
-- units: hour_index
-- why: in the transaction that inserts the same hours anew
delete from mart.hit_rate_histogram
where hour_index between $first_hour and $last_hour
