-- name: schema/21_hit_rate_histogram
-- grain: deployment × hour × bin
-- params: none
-- reads: nothing
-- units: tokens; bin bounds in thousandths
-- why: 1 % bins, 0.1 % bins from .99 on, exact 0 (0..0) and exact 1 (1000..1000) on their own
create table if not exists mart.hit_rate_histogram (
  deployment varchar not null,
  hour_index bigint not null,
  bin_low_permille bigint not null,
  bin_high_permille bigint not null,
  n_requests bigint not null,
  input_tokens bigint not null,
  cached_tokens bigint not null
)
