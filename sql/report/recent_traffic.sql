-- name: report/recent_traffic
-- grain: deployment
-- params: none
-- reads: mart.hourly_hit_rate, mart.throughput_curve, mart.busy_periods
-- units: tokens; tokens²; ratios in [0, 1]
-- why: each deployment's last 24 hours up to its newest hour, as sums: what status and report speak of; those since
--      first_hour where another engine or model served before it and the newest curve is trusted
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.hourly_hit_rate
  group by deployment
),

stretch as (
  select
    newest.deployment,
    newest.last_hour,
    greatest(newest.last_hour - 23, coalesce(curve.changed_at_hour, curve.model_since_hour, 0)) as first_hour
  from newest
  left join mart.throughput_curve as curve
    on newest.deployment = curve.deployment and newest.last_hour // 24 = curve.day_index and curve.trustworthy
),

ranked as (
  select
    periods.deployment,
    periods.basis_rank,
    min(periods.basis_rank) over (partition by periods.deployment, periods.minute_index // 60) as best_rank,
    periods.busy_us,
    periods.cached_tokens,
    periods.cached_tokens + periods.miss_tokens as reported_input_tokens
  from mart.busy_periods as periods
  inner join stretch
    on
      periods.deployment = stretch.deployment
      and periods.minute_index // 60 >= stretch.first_hour
      and periods.minute_index // 60 <= stretch.last_hour
),

busy as (
  select
    deployment,
    sum(busy_us::decimal(38, 0) * (1000000000 * cached_tokens // nullif(reported_input_tokens, 0)))::decimal(38, 0)::double
    / nullif(sum(busy_us), 0) / 1e9 as busy_hit_rate
  from ranked
  where basis_rank = best_rank and reported_input_tokens > 0
  group by deployment
)

select
  hourly.deployment,
  stretch.last_hour,
  stretch.first_hour,
  sum(hourly.n_requests)::bigint as n_requests,
  sum(hourly.n_failed)::bigint as n_failed,
  sum(hourly.n_reported)::bigint as n_reported,
  sum(hourly.n_rated)::bigint as n_rated,
  sum(hourly.reported_input_tokens)::bigint as reported_input_tokens,
  sum(hourly.cached_tokens)::bigint as cached_tokens,
  sum(hourly.miss_tokens)::bigint as miss_tokens,
  sum(hourly.sum_miss_cached)::decimal(38, 0)::double as sum_miss_cached,
  sum(hourly.sum_miss_sq)::decimal(38, 0)::double as sum_miss_sq,
  sum(hourly.sum_input_sq)::decimal(38, 0)::double as sum_input_sq,
  sum(hourly.sum_request_hit_ppb) / nullif(sum(hourly.n_rated), 0) / 1e9 as mean_request_hit_rate,
  max(busy.busy_hit_rate) as busy_hit_rate
from mart.hourly_hit_rate as hourly
inner join stretch on hourly.deployment = stretch.deployment and hourly.hour_index >= stretch.first_hour
left join busy on hourly.deployment = busy.deployment
group by hourly.deployment, stretch.last_hour, stretch.first_hour
order by hourly.deployment
