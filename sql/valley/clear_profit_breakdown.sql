-- name: valley/clear_profit_breakdown
-- grain: statement
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.profit_breakdown
-- units: hour_index
-- why: in the transaction that inserts the same hours anew
delete from mart.profit_breakdown
where hour_index between $first_hour and $last_hour
