-- name: ops/forget_copy
-- grain: statement
-- params: path VARCHAR
-- reads: ops.known_copies
-- units: none
-- why: a path holds one content at a time: its newest look takes the place of the one before
delete from ops.known_copies
where path = $path
