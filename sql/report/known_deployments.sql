-- name: report/known_deployments
-- grain: deployment
-- params: none
-- reads: mart.hourly_hit_rate
-- units: hour_index
-- why: what a command may be asked about, and how far its traffic reaches
select deployment, max(hour_index) as last_hour
from mart.hourly_hit_rate
group by deployment
order by deployment
