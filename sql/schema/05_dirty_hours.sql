-- name: schema/05_dirty_hours
-- grain: mart × hour
-- params: none
-- reads: nothing
-- units: hour_index = whole hours since 1970-01-01T00Z
-- why: hours whose mart rows no longer follow from the lake
create table if not exists ops.dirty_hours (
  mart varchar not null,
  hour_index bigint not null
)
