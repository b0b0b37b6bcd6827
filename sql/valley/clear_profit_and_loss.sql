-- name: valley/clear_profit_and_loss
-- grain: statement
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.profit_and_loss
-- units: hour_index
-- why: in the transaction that inserts the same hours anew
delete from mart.profit_and_loss
where hour_index between $first_hour and $last_hour
