-- name: ops/hours_at_fit
-- grain: one row or none
-- params: day_index BIGINT
-- reads: ops.days_to_close
-- units: hours
-- why: how much of a running day was over when the curves of its deployments were last fitted
select n_hours
from ops.days_to_close
where day_index = $day_index
