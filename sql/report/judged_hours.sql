-- name: report/judged_hours
-- grain: hour
-- params: deployment VARCHAR
-- reads: mart.valley_status, mart.hourly_hit_rate
-- units: ratios; money per hour; hour_index
-- why: what was observed of a deployment, hour by hour, for another policy to decide on
select
  status.hour_index,
  status.p_in_valley,
  status.floor_hit_rate is not null as has_valley,
  status.busy_share,
  status.revenue_index,
  status.lost_per_hour,
  status.currency,
  hourly.n_rated
from mart.valley_status as status
inner join mart.hourly_hit_rate as hourly
  on status.deployment = hourly.deployment and status.hour_index = hourly.hour_index
where status.deployment = $deployment
order by status.hour_index
