-- name: report/recent_traffic
-- grain: deployment
-- params: none
-- reads: mart.hourly_hit_rate
-- units: tokens; tokens²
-- why: each deployment's last 24 hours up to its newest hour, as sums: what status and report speak of
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.hourly_hit_rate
  group by deployment
)

select
  hourly.deployment,
  newest.last_hour,
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
inner join newest on hourly.deployment = newest.deployment and hourly.hour_index > newest.last_hour - 24
group by hourly.deployment, newest.last_hour
order by hourly.deployment
