-- name: alerts/unjudgeable
-- grain: deployment
-- params: none
-- reads: mart.valley_status, mart.throughput_curve
-- units: day_index
-- why: deployments held in the valley whose newest curve must not be trusted, and the first day of those that must not
with newest as (
  select deployment, max(hour_index) as hour_index
  from mart.valley_status
  group by deployment
),

flagged as (
  select status.deployment
  from mart.valley_status as status
  inner join newest on status.deployment = newest.deployment and status.hour_index = newest.hour_index
  where status.is_in_valley
),

trusted as (
  select deployment, max(day_index) as day_index
  from mart.throughput_curve
  where trustworthy
  group by deployment
)

select
  curve.deployment,
  min(curve.day_index) as first_day_index,
  min_by(curve.reasons, -curve.day_index) as reasons
from mart.throughput_curve as curve
inner join flagged on curve.deployment = flagged.deployment
left join trusted on curve.deployment = trusted.deployment
where not curve.trustworthy and (trusted.day_index is null or curve.day_index > trusted.day_index)
group by curve.deployment
order by curve.deployment
