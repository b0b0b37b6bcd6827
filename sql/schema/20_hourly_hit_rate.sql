-- name: schema/20_hourly_hit_rate
-- grain: deployment × hour
-- params: none
-- reads: nothing
-- units: tokens; ppb = parts per billion of request_hit_rate
-- why: integers only; ratios are divided once, in the view
create table if not exists mart.hourly_hit_rate (
  deployment varchar not null,
  hour_index bigint not null,
  n_requests bigint not null,
  n_failed bigint not null,
  n_left_out bigint not null,
  n_reported bigint not null,
  n_rated bigint not null,
  input_tokens bigint not null,
  reported_input_tokens bigint,
  cached_tokens bigint,
  miss_tokens bigint,
  output_tokens bigint,
  sum_request_hit_ppb bigint,
  p10_request_hit_ppb bigint,
  p50_request_hit_ppb bigint,
  p90_request_hit_ppb bigint,
  n_zero bigint not null,
  n_over_99 bigint not null,
  sum_miss_cached decimal(38, 0),
  sum_miss_sq decimal(38, 0),
  sum_cached_sq decimal(38, 0),
  sum_input_sq decimal(38, 0)
)
