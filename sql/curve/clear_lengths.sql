-- name: curve/clear_lengths
-- grain: statement
-- params: day_index BIGINT
-- reads: mart.curve_by_length
-- units: day_index
-- why: in the transaction that inserts the day anew
delete from mart.curve_by_length
where day_index = $day_index
