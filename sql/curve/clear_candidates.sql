-- name: curve/clear_candidates
-- grain: statement
-- params: day_index BIGINT
-- reads: mart.curve_candidates
-- units: day_index
-- why: in the transaction that inserts the day anew
delete from mart.curve_candidates
where day_index = $day_index
