-- name: curve/clear_curve
-- grain: statement
-- params: day_index BIGINT, keeps_trusted BOOLEAN
-- reads: mart.throughput_curve
-- units: day_index
-- why: in the transaction that inserts the day anew, after what is kept by it
delete from mart.throughput_curve
where day_index = $day_index and not ($keeps_trusted and trustworthy)
