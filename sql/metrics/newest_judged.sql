-- name: metrics/newest_judged
-- grain: deployment
-- params: none
-- reads: mart.valley_status
-- units: hour_index; ratios; money per hour
-- why: the newest verdict of each deployment, whatever it says: an older one that knows more would hide that it is older
with newest as (
  select deployment, max(hour_index) as hour_index
  from mart.valley_status
  group by deployment
)

select
  status.deployment,
  status.hour_index,
  status.state,
  status.is_held,
  status.p_in_valley,
  status.lost_per_hour,
  status.currency
from mart.valley_status as status
inner join newest on status.deployment = newest.deployment and status.hour_index = newest.hour_index
order by status.deployment
