-- name: schema/07_unpublished_days
-- grain: day
-- params: none
-- reads: nothing
-- units: day_index
-- why: days whose verdicts changed since the last publication
create table if not exists ops.unpublished_days (
  day_index bigint not null
)
