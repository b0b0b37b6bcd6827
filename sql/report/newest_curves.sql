-- name: report/newest_curves
-- grain: deployment
-- params: none
-- reads: mart.throughput_curve
-- units: tokens/s; seconds
-- why: the curve of each deployment's newest day with traffic
select
  deployment,
  day_index,
  estimator,
  target,
  family,
  reference_input_tokens,
  tps0,
  tps0_low,
  tps0_high,
  a,
  a_low,
  a_high,
  f,
  c,
  q,
  k,
  overhead_s,
  line_good_until_hit_rate,
  chunk_tokens,
  step_s,
  tail_chunk_s_per_day,
  tail_hit_rates,
  n_minutes,
  n_requests,
  x_low,
  x_high,
  residual_scale,
  trustworthy,
  reasons
from mart.throughput_curve as curve
where day_index = (
  select max(hour_index) // 24 from mart.hourly_hit_rate as hourly where hourly.deployment = curve.deployment
)
order by deployment
