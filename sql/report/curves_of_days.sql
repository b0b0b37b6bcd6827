-- name: report/curves_of_days
-- grain: day
-- params: deployment VARCHAR, first_day BIGINT, last_day BIGINT (inclusive)
-- reads: mart.throughput_curve
-- units: seconds per request, token, token² and token
-- why: the curves that a stretch of traffic was served under
select
  day_index,
  target,
  f,
  c,
  q,
  k,
  overhead_s,
  chunk_tokens,
  x_low,
  x_high,
  trustworthy,
  reasons
from mart.throughput_curve
where deployment = $deployment and day_index between $first_day and $last_day
order by day_index
