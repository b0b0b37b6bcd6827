-- name: ops/judged_with
-- grain: one row or none
-- params: none
-- reads: ops.judged_with
-- units: none
-- why: the policy of the verdicts, and the price rows they were compared with
select policy, prices
from ops.judged_with
