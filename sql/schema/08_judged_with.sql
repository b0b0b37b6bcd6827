-- name: schema/08_judged_with
-- grain: one row or none
-- params: none
-- reads: nothing
-- units: none
-- why: which prices and policy the verdicts were made with
create table if not exists ops.judged_with (
  fingerprint varchar not null
)
