-- name: alerts/newest_hours
-- grain: deployment
-- params: none
-- reads: mart.hourly_hit_rate
-- units: hour_index
-- why: when each deployment last served a request, as far as its marts know
select
  deployment,
  max(hour_index) as newest_hour_index
from mart.hourly_hit_rate
where n_requests > 0
group by deployment
order by deployment
