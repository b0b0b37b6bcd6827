-- name: ops/forget_to_close
-- grain: statement
-- params: first_day BIGINT, last_day BIGINT (inclusive)
-- reads: ops.days_to_close
-- units: day_index
-- why: in the transaction that fits their curves, or marks them for it
delete from ops.days_to_close
where day_index between $first_day and $last_day
