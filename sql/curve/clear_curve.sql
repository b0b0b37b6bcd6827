-- name: curve/clear_curve
-- grain: statement
-- params: day_index BIGINT
-- reads: mart.throughput_curve
-- units: day_index
-- why: in the transaction that inserts the day anew
delete from mart.throughput_curve
where day_index = $day_index
