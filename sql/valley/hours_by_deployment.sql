-- name: valley/hours_by_deployment
-- grain: deployment
-- params: hour_index BIGINT
-- reads: mart.valley_status
-- units: hours
-- why: how many hours from this one on each deployment has, none included: an earlier episode of it may go on
select deployment, count(*) filter (where hour_index >= $hour_index) as n_hours
from mart.valley_status
group by deployment
order by deployment
