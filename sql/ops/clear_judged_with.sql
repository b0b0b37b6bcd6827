-- name: ops/clear_judged_with
-- grain: statement
-- params: none
-- reads: ops.judged_with
-- units: none
-- why: in the transaction that marks the days dirty
delete from ops.judged_with
