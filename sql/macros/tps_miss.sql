-- name: macros/tps_miss
-- grain: scalar
-- params: none
-- reads: nothing
-- units: tokens/s
-- why: miss-token throughput at hit rate x: the straight line of docs/architecture.md
create or replace macro tps_miss(x, tps0, a) as
  tps0 * (1 - a * x)
