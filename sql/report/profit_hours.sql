-- name: report/profit_hours
-- grain: deployment × hour
-- params: first_hour BIGINT, last_hour BIGINT (inclusive; NULL: the deployment's last 24 hours up to its newest)
-- reads: mart.profit_and_loss
-- units: money in currency; seconds; instance hours
-- why: the hours that a profit and loss adds up
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.profit_and_loss
  group by deployment
)

select
  hours.deployment,
  hours.hour_index,
  hours.n_requests,
  hours.n_unknown,
  hours.miss_revenue,
  hours.cached_revenue,
  hours.output_revenue,
  hours.cache_write_revenue,
  hours.gross_revenue,
  hours.unknown_revenue_at_most,
  hours.n_in_time,
  hours.n_late,
  hours.n_unknown_time,
  hours.in_time_revenue,
  hours.late_revenue,
  hours.unknown_time_revenue,
  hours.discount_given,
  hours.instance_hours,
  hours.cost,
  hours.margin,
  hours.is_loss,
  hours.busy_us / 1e6 as busy_s,
  hours.saved_busy_s,
  hours.cache_value,
  hours.cache_value_low,
  hours.cache_value_high,
  hours.currency,
  hours.reasons
from mart.profit_and_loss as hours
inner join newest on hours.deployment = newest.deployment
where
  hours.hour_index >= coalesce($first_hour::bigint, newest.last_hour - 23)
  and hours.hour_index <= coalesce($last_hour::bigint, newest.last_hour)
order by hours.deployment, hours.hour_index
