-- name: schema/32_valley_status
-- grain: deployment × hour
-- params: none
-- reads: nothing
-- units: ratios; money; hours
-- why: the verdict; *_streak and held carry the state machine from day to day; price_hash names a list of
--      mart.price_history and is NULL where not all of the traffic has a price
create table if not exists mart.valley_status (
  deployment varchar not null,
  hour_index bigint not null,
  hit_rate double,
  mean_request_hit_rate double,
  busy_hit_rate double,
  price_ratio double,
  input_per_mtok double,
  cached_per_mtok double,
  n_prices bigint,
  miss_revenue double,
  cached_revenue double,
  cached_at_miss_price double,
  miss_at_cached_price double,
  revenue_scope varchar not null,
  output_revenue double,
  cache_write_revenue double,
  decode_s double,
  price_hash varchar,
  revenue_index double,
  index_low double,
  index_high double,
  p_in_valley double,
  floor_hit_rate double,
  exit_hit_rate double,
  floor_depth double,
  p_valley double,
  floor_low double,
  floor_high double,
  exit_low double,
  exit_high double,
  depth_low double,
  depth_high double,
  marginal_index double,
  side varchar,
  regime varchar,
  busy_share double,
  lost_per_hour double,
  currency varchar,
  reasons varchar not null,
  state varchar not null,
  is_in_valley boolean not null,
  is_held boolean not null,
  enter_streak bigint not null,
  leave_streak bigint not null
)
