-- name: shown/traffic_of_day
-- grain: deployment
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.hourly_hit_rate
-- units: tokens
-- why: a day's traffic as the orchestrator shows it, the busiest deployment first; NULL where hits are not reported
select
  deployment,
  cast(sum(n_requests) as bigint) as n_requests,
  cast(sum(reported_input_tokens) as bigint) as reported_input_tokens,
  cast(sum(cached_tokens) as bigint) as cached_tokens
from mart.hourly_hit_rate
where hour_index between $first_hour and $last_hour
group by deployment
order by n_requests desc, deployment
