-- name: schema/06_days_to_close
-- grain: day
-- params: none
-- reads: nothing
-- units: day_index; hours
-- why: days whose curves were last fitted while they ran, after n_hours of them; they are fitted again when they are over
create table if not exists ops.days_to_close (
  day_index bigint not null,
  n_hours bigint not null
)
