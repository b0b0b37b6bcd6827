-- name: share/curves
-- grain: deployment × day
-- params: from_us BIGINT, to_us BIGINT (days in [from_us, to_us))
-- reads: throughput_curve
-- units: tokens/s; seconds per request, token, token² and token
-- why: the curve alone: no counts, no models, no times of changes
select
  deployment,
  day_utc,
  estimator,
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
  chunk_tokens,
  residual_scale,
  trustworthy
from throughput_curve
where epoch_us(day_utc::timestamp) >= $from_us and epoch_us(day_utc::timestamp) < $to_us
order by deployment, day_utc
