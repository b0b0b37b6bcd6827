-- name: schema/30_throughput_curve
-- grain: deployment × day
-- params: none
-- reads: nothing
-- units: tokens/s; seconds per request, token, token² and token
-- why: one fitted curve, the best of mart.curve_candidates; NULL where it could not be fitted. target is the time that was
--      regressed: busy_s, ttft_s or e2e_s. Hours are since the epoch: the first that the curve rests on; the first of a
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
  chunk_tokens bigint,
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
