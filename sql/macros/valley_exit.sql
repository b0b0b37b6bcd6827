-- name: macros/valley_exit
-- grain: scalar
-- params: none
-- reads: nothing
-- units: hit rate
-- why: where the bathtub is back at 1; NULL where there is no valley (a <= r)
create or replace macro valley_exit(a, r) as
  case when a > r and a < 1 and r >= 0 then (a - r) / (a * (1 - r)) end
