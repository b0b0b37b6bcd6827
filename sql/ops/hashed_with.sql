-- name: ops/hashed_with
-- grain: one row or none
-- params: none
-- reads: ops.hashed_with
-- units: none
-- why: which ids of the newest requests are hashed, and what tells their salt from another
select
  fields,
  check_value
from ops.hashed_with
