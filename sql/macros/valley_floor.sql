-- name: macros/valley_floor
-- grain: scalar
-- params: none
-- reads: nothing
-- units: hit rate
-- why: where the bathtub is lowest; NULL where there is no valley (a <= r)
create or replace macro valley_floor(a, r) as
  case when a > r and a < 1 and r >= 0 then 1 - sqrt((1 - a) * r / (a * (1 - r))) end
