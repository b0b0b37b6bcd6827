-- name: checks/marts_profile
-- grain: deployment × hour that the requests or one of the marts know
-- params: context_from_us BIGINT (arrivals read, a day before the first hour), from_us BIGINT, to_us BIGINT (whole hours)
-- reads: requests, mart.hourly_hit_rate, mart.hit_rate_histogram, mart.busy_periods
-- units: counts of breaches
-- why: each mart against the requests and against the others. An instance's busy time in an hour is a union of intervals
--      that end in the hour: it is at most the hour and what its oldest busy period had already run before it
with arrivals as (
  select
    deployment,
    arrived_us // 3600000000 as hour_index,
    count(*) as n_arrived,
    count(*) filter (where outcome = 'ok') as n_served
  from requests
  where arrived_us >= $from_us and arrived_us < $to_us
  group by deployment, arrived_us // 3600000000
),

first_tokens as (
  select
    deployment,
    (arrived_us + ttft_us) // 3600000000 as hour_index,
    count(*) as n_first_tokens
  from requests
  where
    arrived_us >= $context_from_us
    and arrived_us + ttft_us >= $from_us
    and arrived_us + ttft_us < $to_us
    and outcome = 'ok'
    and instance is not null
  group by deployment, (arrived_us + ttft_us) // 3600000000
),

hourly as (
  select
    deployment,
    hour_index,
    n_requests,
    n_requests + n_failed + n_left_out as n_counted,
    n_rated,
    coalesce(reported_input_tokens, 0) as reported_input_tokens,
    coalesce(cached_tokens, 0) as cached_tokens,
    case when n_reported > n_requests or n_rated > n_reported then 1 else 0 end as n_reported_over_requests,
    case
      when
        cached_tokens < 0
        or cached_tokens > reported_input_tokens
        or cached_tokens + miss_tokens <> reported_input_tokens
        or (n_reported > 0 and (cached_tokens is null or miss_tokens is null or reported_input_tokens is null))
        then 1
      else 0
    end as n_hit_rates_outside,
    case
      when
        sum_input_sq <> sum_miss_sq + sum_miss_cached + sum_miss_cached + sum_cached_sq
        or (
          n_reported > 0
          and (sum_input_sq is null or sum_miss_sq is null or sum_miss_cached is null or sum_cached_sq is null)
        )
        then 1
      else 0
    end as n_moments_apart
  from mart.hourly_hit_rate
  where hour_index >= $from_us // 3600000000 and hour_index < $to_us // 3600000000
),

histogram as (
  select
    deployment,
    hour_index,
    sum(n_requests) as n_binned,
    sum(input_tokens) as input_tokens,
    sum(cached_tokens) as cached_tokens
  from mart.hit_rate_histogram
  where hour_index >= $from_us // 3600000000 and hour_index < $to_us // 3600000000
  group by deployment, hour_index
),

instances as (
  select
    deployment,
    instance,
    basis_rank,
    minute_index // 60 as hour_index,
    sum(n_requests) as n_requests,
    sum(busy_us) as busy_us,
    min(busy_us) as least_busy_us,
    min(period_id) as oldest_period_us
  from mart.busy_periods
  where minute_index >= $from_us // 60000000 and minute_index < $to_us // 60000000
  group by deployment, instance, basis_rank, minute_index // 60
),

busy as (
  select
    deployment,
    hour_index,
    sum(n_requests) as n_busy,
    count(*) filter (
      where
        least_busy_us < 0
        or busy_us > 3600000000 * (hour_index + 1) - least(3600000000 * hour_index, oldest_period_us)
    ) as n_overbusy_instances
  from instances
  group by deployment, hour_index
),

known as (
  select deployment, hour_index from arrivals
  union distinct
  select deployment, hour_index from first_tokens
  union distinct
  select deployment, hour_index from hourly
  union distinct
  select deployment, hour_index from histogram
  union distinct
  select deployment, hour_index from busy
)

select
  known.deployment,
  known.hour_index,
  case
    when
      coalesce(arrivals.n_arrived, 0) = coalesce(hourly.n_counted, 0)
      and coalesce(arrivals.n_served, 0) = coalesce(hourly.n_requests, 0)
      then 0
    else 1
  end as n_hours_not_of_requests,
  coalesce(hourly.n_reported_over_requests, 0) as n_reported_over_requests,
  coalesce(hourly.n_hit_rates_outside, 0) as n_hit_rates_outside,
  coalesce(hourly.n_moments_apart, 0) as n_moments_apart,
  case
    when
      coalesce(histogram.n_binned, 0) = coalesce(hourly.n_rated, 0)
      and coalesce(histogram.input_tokens, 0) = coalesce(hourly.reported_input_tokens, 0)
      and coalesce(histogram.cached_tokens, 0) = coalesce(hourly.cached_tokens, 0)
      then 0
    else 1
  end as n_histograms_apart,
  abs(coalesce(busy.n_busy, 0) - coalesce(first_tokens.n_first_tokens, 0))::bigint as n_busy_not_of_requests,
  coalesce(busy.n_overbusy_instances, 0) as n_overbusy_instances
from known
left join arrivals on known.deployment = arrivals.deployment and known.hour_index = arrivals.hour_index
left join first_tokens on known.deployment = first_tokens.deployment and known.hour_index = first_tokens.hour_index
left join hourly on known.deployment = hourly.deployment and known.hour_index = hourly.hour_index
left join histogram on known.deployment = histogram.deployment and known.hour_index = histogram.hour_index
left join busy on known.deployment = busy.deployment and known.hour_index = busy.hour_index
order by known.deployment, known.hour_index
