-- name: schema/32_valley_status
-- grain: deployment × hour
-- params: none
-- reads: nothing
-- units: ratios; money per hour; hours
-- why: the verdict; *_streak and held carry the state machine from day to day
create table if not exists mart.valley_status (
  deployment varchar not null,
  hour_index bigint not null,
  hit_rate double,
  price_ratio double,
  input_per_mtok double,
  cached_per_mtok double,
  revenue_index double,
  index_low double,
  index_high double,
  p_in_valley double,
  floor_hit_rate double,
  exit_hit_rate double,
  floor_depth double,
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
