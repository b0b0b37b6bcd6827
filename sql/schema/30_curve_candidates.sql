-- name: schema/30_curve_candidates
-- grain: deployment × day × estimator × target
-- params: none
-- reads: nothing
-- units: tokens/s; seconds per request, token, token² and token
-- why: what every estimator says of the same days; is_chosen marks the one in mart.throughput_curve
create table if not exists mart.curve_candidates (
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
  is_chosen boolean not null,
  trustworthy boolean not null,
  reasons varchar not null
)
