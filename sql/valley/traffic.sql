-- name: valley/traffic
-- grain: deployment × hour
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.hourly_hit_rate, mart.busy_periods
-- units: tokens; tokens²; microseconds; ratios in [0, 1]
-- why: what an hour's verdict is made of; busy_us and n_instances are NULL where no instance is logged. The busy time of an
--      instance that several logs tell of is taken from one: the best basis of the hour. busy_hit_rate is the hit rate of the requests that a busy second is spent on:
--      that of each busy period and minute, weighted by its busy time
with ranked as (
  select
    deployment,
    instance,
    minute_index // 60 as hour_index,
    basis_rank,
    min(basis_rank) over (partition by deployment, minute_index // 60) as best_rank,
    busy_us,
    cached_tokens,
    cached_tokens + miss_tokens as reported_input_tokens
  from mart.busy_periods
  where minute_index // 60 between $first_hour and $last_hour
),

busy as (
  select
    deployment,
    hour_index,
    sum(busy_us)::bigint as busy_us,
    (sum(busy_us) filter (where reported_input_tokens > 0))::bigint as rated_busy_us,
    sum(
      busy_us::decimal(38, 0) * (1000000000 * cached_tokens // nullif(reported_input_tokens, 0))
    )::decimal(38, 0) as sum_busy_hit_ppb
  from ranked
  where basis_rank = best_rank
  group by deployment, hour_index
),

pool as (
  select deployment, count(distinct instance) as n_instances
  from ranked
  where basis_rank = best_rank
  group by deployment
)

select
  hourly.deployment,
  hourly.hour_index,
  hourly.n_requests,
  hourly.n_failed,
  hourly.n_reported,
  hourly.n_rated,
  hourly.reported_input_tokens,
  hourly.cached_tokens,
  hourly.miss_tokens,
  hourly.sum_miss_cached::double as sum_miss_cached,
  hourly.sum_miss_sq::double as sum_miss_sq,
  hourly.sum_input_sq::double as sum_input_sq,
  case when pool.n_instances is not null then coalesce(busy.busy_us, 0) end as busy_us,
  pool.n_instances,
  hourly.sum_request_hit_ppb / nullif(hourly.n_rated, 0) / 1e9 as mean_request_hit_rate,
  busy.sum_busy_hit_ppb::double / nullif(busy.rated_busy_us, 0) / 1e9 as busy_hit_rate
from mart.hourly_hit_rate as hourly
left join busy on hourly.deployment = busy.deployment and hourly.hour_index = busy.hour_index
left join pool on hourly.deployment = pool.deployment
where hourly.hour_index between $first_hour and $last_hour
order by hourly.deployment, hourly.hour_index
