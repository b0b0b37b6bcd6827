-- name: schema/01_schema_version
-- grain: one row
-- params: none
-- reads: nothing
-- units: none
-- why: the layout's version; another version's warehouse is refused, not guessed at
create table if not exists ops.schema_version (
  version integer not null
)
