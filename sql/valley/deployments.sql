-- name: valley/deployments
-- grain: deployment
-- params: none
-- reads: mart.valley_status
-- units: none
-- why: deployments that have verdicts
select distinct deployment
from mart.valley_status
order by deployment
