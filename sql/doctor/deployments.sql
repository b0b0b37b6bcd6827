-- name: doctor/deployments
-- grain: deployment
-- params: none
-- reads: mart.hourly_hit_rate
-- units: hour_index
-- why: when each deployment last served a request
select
  deployment,
  max(hour_index) as last_hour_index
from mart.hourly_hit_rate
group by deployment
order by last_hour_index, deployment
