-- name: mart/clear_busy_periods
-- grain: statement
-- params: from_us BIGINT, to_us BIGINT
-- reads: mart.busy_periods
-- units: microseconds
-- why: in the transaction that inserts the same day anew
delete from mart.busy_periods
where minute_index >= $from_us // 60000000 and minute_index < $to_us // 60000000
