-- name: valley/curves
-- grain: deployment
-- params: day_index BIGINT
-- reads: mart.throughput_curve
-- units: tokens/s; seconds; hours since the epoch
-- why: the day's curves
select
  deployment,
  target,
  reference_input_tokens,
  a,
  a_low,
  a_high,
  f,
  c,
  q,
  k,
  window_from_hour,
  trustworthy,
  reasons
from mart.throughput_curve
where day_index = $day_index
order by deployment
