-- name: report/recent_hours
-- grain: deployment × hour
-- params: none
-- reads: mart.valley_status, mart.hourly_hit_rate
-- units: ratios; money per hour
-- why: the verdicts of the same 24 hours
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.hourly_hit_rate
  group by deployment
)

select
  status.deployment,
  status.hour_index,
  hourly.n_requests,
  status.hit_rate,
  status.price_ratio,
  status.input_per_mtok,
  status.cached_per_mtok,
  status.n_prices,
  status.miss_revenue,
  status.cached_revenue,
  status.cached_at_miss_price,
  status.miss_at_cached_price,
  status.revenue_scope,
  status.output_revenue,
  status.cache_write_revenue,
  status.decode_s,
  status.price_hash,
  status.revenue_index,
  status.index_low,
  status.index_high,
  status.p_in_valley,
  status.state,
  status.is_held,
  status.side,
  status.regime,
  status.busy_share,
  status.lost_per_hour,
  status.currency,
  status.reasons
from mart.valley_status as status
inner join newest on status.deployment = newest.deployment and status.hour_index > newest.last_hour - 24
inner join mart.hourly_hit_rate as hourly
  on status.deployment = hourly.deployment and status.hour_index = hourly.hour_index
order by status.deployment, status.hour_index
