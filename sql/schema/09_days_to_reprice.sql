-- name: schema/09_days_to_reprice
-- grain: day
-- params: none
-- reads: nothing
-- units: day_index
-- why: days of which somebody asked that they take the prices of the rows when they are judged next
create table if not exists ops.days_to_reprice (
  day_index bigint not null
)
