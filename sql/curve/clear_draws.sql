-- name: curve/clear_draws
-- grain: statement
-- params: day_index BIGINT
-- reads: mart.curve_draws
-- units: day_index
-- why: in the transaction that inserts the day anew
delete from mart.curve_draws
where day_index = $day_index
