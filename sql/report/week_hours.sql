-- name: report/week_hours
-- grain: deployment × hour
-- params: none
-- reads: mart.hourly_hit_rate
-- units: ratios; requests
-- why: hit rates of the week up to each deployment's newest hour
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.hourly_hit_rate
  group by deployment
)

select
  hourly.deployment,
  hourly.hour_index,
  hourly.n_requests,
  hourly.cached_tokens / nullif(hourly.reported_input_tokens, 0) as hit_rate
from mart.hourly_hit_rate as hourly
inner join newest on hourly.deployment = newest.deployment and hourly.hour_index > newest.last_hour - 168
order by hourly.deployment, hourly.hour_index
