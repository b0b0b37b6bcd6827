-- name: macros/break_even_ratio
-- grain: scalar
-- params: none
-- reads: nothing
-- units: 1
-- why: price ratio at which hit rate x earns what no cache would
create or replace macro break_even_ratio(x, a) as
  a * (1 - x) / nullif(1 - a * x, 0)
