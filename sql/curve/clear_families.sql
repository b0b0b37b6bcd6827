-- name: curve/clear_families
-- grain: statement
-- params: day_index BIGINT
-- reads: mart.curve_families
-- units: day_index
-- why: in the transaction that inserts the day anew
delete from mart.curve_families
where day_index = $day_index
