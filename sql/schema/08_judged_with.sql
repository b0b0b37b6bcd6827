-- name: schema/08_judged_with
-- grain: one row or none
-- params: none
-- reads: nothing
-- units: none
-- why: which policy the verdicts were made with, and which price rows they were compared with
create table if not exists ops.judged_with (
  policy varchar not null,
  prices varchar not null
)
