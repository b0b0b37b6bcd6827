-- name: views/profit_and_loss
-- grain: deployment × hour
-- params: none
-- reads: mart.profit_and_loss
-- units: money in currency, per hour where a name says so; seconds; instance hours
-- about: what an hour sold, what its instances cost, what its cache hits earned
-- why: NULL is not known. gross_revenue is what is known to be earned: where n_unknown requests lack a count, they earned
--      up to unknown_revenue_at_most (NULL: no telling) beside it, margin is at least, and is_loss is NULL unless that
--      decides nothing. in_time_revenue is of requests known to be within the objective. cache_value is what the hits
--      earned (negative: cost) against the same busy seconds without a cache, its bounds a 90 % interval; discount_given
--      what the cached tokens would have brought at the price of computed ones; saved_busy_s what computing them would
--      have taken. revenue_per_busy_hour is of all answers, in_time_revenue_per_busy_hour of those in time alone
select
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  n_requests,
  n_unknown,
  miss_revenue,
  cached_revenue,
  output_revenue,
  cache_write_revenue,
  gross_revenue,
  unknown_revenue_at_most,
  n_in_time,
  n_late,
  n_unknown_time,
  in_time_revenue,
  late_revenue,
  unknown_time_revenue,
  discount_given,
  instance_hours,
  cost,
  margin,
  is_loss,
  busy_us / 1e6 as busy_s,
  gross_revenue * 3600000000 / nullif(busy_us, 0) as revenue_per_busy_hour,
  in_time_revenue * 3600000000 / nullif(busy_us, 0) as in_time_revenue_per_busy_hour,
  saved_busy_s,
  cache_value,
  cache_value_low,
  cache_value_high,
  currency,
  reasons
from mart.profit_and_loss
