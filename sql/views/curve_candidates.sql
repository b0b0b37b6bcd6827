-- name: views/curve_candidates
-- grain: deployment × day × estimator × target
-- params: none
-- reads: mart.curve_candidates
-- units: tokens/s; f s/request, c s/token, q s/token², k s/token
-- about: the curves of every estimator, the chosen one and the others
-- why: throughput_curve has the chosen one of a day, this view the others beside it; the same columns
-- comments: those of views/throughput_curve, and
--   is_chosen: whether it is the curve of throughput_curve
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
  is_chosen,
  trustworthy,
  reasons
from mart.curve_candidates
