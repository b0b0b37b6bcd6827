-- name: curve/clear_draws
-- grain: statement
-- params: day_index BIGINT, keeps_trusted BOOLEAN
-- reads: mart.curve_draws, mart.throughput_curve
-- units: day_index
-- why: in the transaction that inserts the day anew, or those of its deployments whose curve is not trusted
delete from mart.curve_draws
where
  day_index = $day_index
  and not (
    $keeps_trusted
    and deployment in (select deployment from mart.throughput_curve where day_index = $day_index and trustworthy)
  )
