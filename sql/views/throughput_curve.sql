-- name: views/throughput_curve
-- grain: deployment × day
-- params: none
-- reads: mart.throughput_curve
-- units: tokens/s; f s/request, c s/token, q s/token², k s/token
-- about: the curve of a deployment: throughput without a cache, slope, coefficients, trust
-- why: tps0 and a are the line through the curve at reference_input_tokens for hit rates up to .9; the bounds are 90 % intervals.
--      line_good_until_hit_rate is where that line departs from the law by 5 %. chunk_tokens is the step of an engine that
--      does not pack requests, step_s the fixed seconds of one, tail_chunk_s_per_day the busy seconds that packing would
--      save, tail_hit_rates where such a prompt begins to leave a small last chunk; NULL where no step size shows.
--      The window is cut where the engine changed or another model took over: what came before is not in the curve
select
  deployment,
  make_date(day_index::integer) as day_utc,
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
  make_timestamp(window_from_hour * 3600000000) as window_from_hour,
  make_timestamp(changed_at_hour * 3600000000) as changed_at_hour,
  change_size,
  change_p_value,
  changed,
  model,
  make_timestamp(model_since_hour * 3600000000) as model_since_hour,
  mixed_models,
  trustworthy,
  reasons
from mart.throughput_curve
