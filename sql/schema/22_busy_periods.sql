-- name: schema/22_busy_periods
-- grain: deployment × instance × basis × busy period × minute
-- params: none
-- reads: nothing
-- units: microseconds; tokens; attention2 in tokens²; steps
-- why: the regression rows of the curve, integers only
create table if not exists mart.busy_periods (
  deployment varchar not null,
  instance varchar not null,
  ttft_basis varchar not null,
  cached_basis varchar not null,
  basis_rank bigint not null,
  period_id bigint not null,
  minute_index bigint not null,
  begins_period bigint not null,
  busy_us bigint not null,
  n_requests bigint not null,
  n_unreported bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null,
  miss_tokens bigint not null,
  output_tokens bigint not null,
  attention2 decimal(38,0) not null,
  steps_1024 bigint not null,
  steps_2048 bigint not null,
  steps_4096 bigint not null,
  steps_8192 bigint not null,
  steps_16384 bigint not null,
  steps_32768 bigint not null
)
