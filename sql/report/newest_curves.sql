-- name: report/newest_curves
-- grain: deployment
-- params: none
-- reads: mart.throughput_curve
-- units: tokens/s; seconds
-- why: the newest curve of each deployment
select
  deployment,
  day_index,
  estimator,
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
  n_minutes,
  n_requests,
  residual_scale,
  trustworthy,
  reasons
from mart.throughput_curve
qualify row_number() over (partition by deployment order by day_index desc) = 1
order by deployment
