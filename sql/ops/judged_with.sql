-- name: ops/judged_with
-- grain: one row or none
-- params: none
-- reads: ops.judged_with
-- units: none
-- why: the prices and policy of the verdicts
select fingerprint
from ops.judged_with
