-- name: schema/06_dirty_days
-- grain: day
-- params: none
-- reads: nothing
-- units: day_index = whole days since 1970-01-01
-- why: days whose curve and verdicts no longer follow from the marts; from_day_index is the day whose requests changed, NULL
--      where something else did (policy, prices)
create table if not exists ops.dirty_days (
  day_index bigint not null,
  from_day_index bigint
)
