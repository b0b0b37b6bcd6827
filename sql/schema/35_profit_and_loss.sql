-- name: schema/35_profit_and_loss
-- grain: deployment × hour
-- params: none
-- reads: nothing
-- units: money in currency; seconds; instance hours
-- why: what an hour's tokens were sold for, what its instances cost, what its cache did; written beside the verdict
create table if not exists mart.profit_and_loss (
  deployment varchar not null,
  hour_index bigint not null,
  n_requests bigint not null,
  n_unknown bigint not null,
  miss_revenue double,
  cached_revenue double,
  output_revenue double,
  cache_write_revenue double,
  gross_revenue double,
  unknown_revenue_at_most double,
  n_in_time bigint,
  n_late bigint,
  n_unknown_time bigint,
  in_time_revenue double,
  late_revenue double,
  unknown_time_revenue double,
  discount_given double,
  instance_hours double,
  cost double,
  margin double,
  is_loss boolean,
  busy_us bigint,
  saved_busy_s double,
  cache_value double,
  cache_value_low double,
  cache_value_high double,
  currency varchar,
  reasons varchar not null
)
