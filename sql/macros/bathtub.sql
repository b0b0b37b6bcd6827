-- name: macros/bathtub
-- grain: scalar
-- params: none
-- reads: nothing
-- units: 1
-- why: revenue per busy second against that without a cache; x in [0, 1)
create or replace macro bathtub(x, a, r) as
  (1 - a * x) * (1 - (1 - r) * x) / nullif(1 - x, 0)
