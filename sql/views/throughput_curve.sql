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
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   day_utc: UTC date; the curve rests on a trailing window that ends with it
--   estimator: busy_periods, or envelope where logs lack instances or times to first token
--   target: the time that was regressed: busy_s, ttft_s or e2e_s
--   family: shape that predicts best: line, hyperbola or service_time, see curve_families
--   reference_input_tokens: mean prompt length, at which tps0 and a are stated [tokens]
--   tps0: computed prompt tokens per busy second at hit rate 0 [tokens/s]; NULL = not estimated
--   tps0_low: lower end of its 90 % interval [tokens/s]
--   tps0_high: upper end of its 90 % interval [tokens/s]
--   a: slope of the line tps0 × (1 − a × hit rate), for hit rates up to .9 [1]
--   a_low: lower end of its 90 % interval [1]
--   a_high: upper end of its 90 % interval [1]
--   f: fixed busy time of a request [s/request]
--   c: busy time of a computed token in linear layers [s/token]
--   q: busy time of a computed token for each token of its context, attention [s/token²]
--   k: busy time of loading a cached token [s/token]
--   overhead_s: time per busy period, or per request of an envelope, that is not the engine's [s]
--   line_good_until_hit_rate: hit rate from which the line departs from the law by 5 %; NULL = not within reach
--   chunk_tokens: prefill step of an engine that does not pack requests [tokens]; NULL = no step size shows
--   step_s: fixed busy time of one step [s]; NULL = no step size shows
--   tail_chunk_s_per_day: busy time a day that nothing but full steps would save, at most [s/day]
--   tail_hit_rates: hit rates at which a prompt of reference_input_tokens leaves a small last chunk
--   n_minutes: rows fitted, each at most a minute of one busy period [rows]
--   n_requests: requests in them [requests]
--   x_low: 5th percentile of the rows' hit rate, in [0, 1]
--   x_high: 95th percentile of the rows' hit rate, in [0, 1]
--   residual_scale: typical relative error of a row [1]
--   window_from_hour: first hour the curve rests on, UTC
--   changed_at_hour: first hour of a changed engine within the window, UTC; NULL = no change
--   change_size: relative change of throughput at that hour [1]; positive = faster
--   change_p_value: probability of such a change by chance
--   changed: what changed: level, slope, level and slope
--   model: model the curve is of; NULL = the log names none
--   model_since_hour: first hour of a new model within the window, UTC; NULL = the same all along
--   mixed_models: whether several models were served in the same hours
--   trustworthy: whether verdicts may rest on it
--   reasons: codes of why not, with commas; empty = trustworthy
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
