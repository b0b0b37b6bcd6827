-- name: report/recent_traffic
-- grain: deployment
-- params: none
-- reads: mart.hourly_hit_rate, mart.throughput_curve
-- units: tokens; tokens²
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
  sum(hourly.sum_input_sq)::decimal(38, 0)::double as sum_input_sq
from mart.hourly_hit_rate as hourly
inner join stretch on hourly.deployment = stretch.deployment and hourly.hour_index >= stretch.first_hour
group by hourly.deployment, stretch.last_hour, stretch.first_hour
order by hourly.deployment
