-- name: ops/clear_hashed_with
-- grain: statement
-- params: none
-- reads: ops.hashed_with
-- units: none
-- why: before what holds from now on is written
delete from ops.hashed_with
