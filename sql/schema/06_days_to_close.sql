-- name: schema/06_days_to_close
-- grain: day
-- params: none
-- reads: nothing
-- units: day_index
-- why: days whose curves were last fitted while they ran; they are fitted again once their day is over
create table if not exists ops.days_to_close (
  day_index bigint not null
)
