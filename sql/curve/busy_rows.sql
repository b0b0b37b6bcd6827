-- name: curve/busy_rows
-- grain: busy period × minute
-- params: deployment VARCHAR, first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.busy_periods
-- units: microseconds; tokens; tokens²; steps
-- why: the regression rows of a window; minutes with requests that report no cached tokens cannot be used, and of several
--      bases only the best that the window has (smallest basis_rank)
select
  minute_index // 60 as hour_index,
  begins_period,
  busy_us,
  n_requests,
  miss_tokens,
  cached_tokens,
  attention2::double as attention2,
  steps_1024,
  steps_2048,
  steps_4096,
  steps_8192,
  steps_16384,
  steps_32768
from mart.busy_periods
where
  deployment = $deployment
  and minute_index // 60 between $first_hour and $last_hour
  and n_unreported = 0
  and basis_rank = (
    select min(basis_rank)
    from mart.busy_periods
    where deployment = $deployment and minute_index // 60 between $first_hour and $last_hour and n_unreported = 0
  )
order by minute_index, instance, period_id
