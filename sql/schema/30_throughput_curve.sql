-- name: schema/30_throughput_curve
-- grain: deployment × day
-- params: none
-- reads: nothing
-- units: tokens/s; seconds per request, token, token² and token
-- why: one fitted curve, the best of mart.curve_candidates; NULL where it could not be fitted. target is the time that was
--      regressed: busy_s, ttft_s or e2e_s. f, c, q and k are the law of verdicts, f a request's, whatever else was found:
--      family is the shape that is kept (mart.curve_families), chunk_tokens the step of an engine that does not pack, step_s
--      the fixed seconds of one, tail_chunk_s_per_day what packing would save, tail_hit_rates where a prompt of
--      reference_input_tokens begins to leave a small last chunk; NULL where no step size shows.
--      Hours are since the epoch: the first that the curve rests on; the first of a
--      changed engine (change_size: relative difference of throughput; changed: in level, slope or both) and of a new
--      model, NULL where the window has none. mixed_models: served in the same hours
create table if not exists mart.throughput_curve (
  deployment varchar not null,
  day_index bigint not null,
  estimator varchar not null,
  target varchar not null,
  family varchar not null,
  reference_input_tokens double,
  tps0 double,
  tps0_low double,
  tps0_high double,
  a double,
  a_low double,
  a_high double,
  f double,
  c double,
  q double,
  k double,
  overhead_s double,
  line_good_until_hit_rate double,
  chunk_tokens bigint,
  step_s double,
  tail_chunk_s_per_day double,
  tail_hit_rates double[],
  n_minutes bigint not null,
  n_requests bigint not null,
  x_low double,
  x_high double,
  residual_scale double,
  window_from_hour bigint not null,
  changed_at_hour bigint,
  change_size double,
  change_p_value double,
  changed varchar,
  model varchar,
  model_since_hour bigint,
  mixed_models varchar,
  trustworthy boolean not null,
  reasons varchar not null
)
