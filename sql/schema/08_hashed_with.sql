-- name: schema/08_hashed_with
-- grain: one row or none
-- params: none
-- reads: nothing
-- units: none
-- why: which fields of [privacy] hash the last reading hashed, and a hash of a fixed text under its salt, never the salt: the
--      next reading notices another one
create table if not exists ops.hashed_with (
  fields varchar not null,
  check_value varchar
)
