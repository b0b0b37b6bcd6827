-- name: report/priced_hours
-- grain: hour
-- params: deployment VARCHAR, first_hour BIGINT, last_hour BIGINT (inclusive), curve_day BIGINT (NULL: each hour's own)
-- reads: mart.hourly_hit_rate, mart.valley_status, mart.throughput_curve
-- units: tokens; tokens²; prices per million tokens; money
-- why: a stretch of traffic and what its tokens were sold for; price_hash is NULL where not all of them have a price,
--      input_per_mtok and cached_per_mtok also where there are several prices in the hour; is_before_change: another
--      engine or model served than that of the curve of curve_day
select
  hourly.hour_index,
  hourly.n_rated,
  hourly.reported_input_tokens,
  hourly.cached_tokens,
  hourly.miss_tokens,
  hourly.sum_miss_cached::double as sum_miss_cached,
  hourly.sum_miss_sq::double as sum_miss_sq,
  hourly.sum_input_sq::double as sum_input_sq,
  status.input_per_mtok,
  status.cached_per_mtok,
  status.miss_revenue,
  status.cached_revenue,
  status.cached_at_miss_price,
  status.miss_at_cached_price,
  status.price_hash,
  status.currency,
  status.reasons,
  hourly.hour_index < coalesce(curve.changed_at_hour, curve.model_since_hour, 0) as is_before_change
from mart.hourly_hit_rate as hourly
left join mart.valley_status as status
  on hourly.deployment = status.deployment and hourly.hour_index = status.hour_index
left join mart.throughput_curve as curve
  on
    hourly.deployment = curve.deployment
    and curve.day_index = coalesce(cast($curve_day as bigint), hourly.hour_index // 24)
    and curve.trustworthy
where
  hourly.deployment = $deployment
  and hourly.hour_index between $first_hour and $last_hour
  and hourly.reported_input_tokens > 0
order by hourly.hour_index
