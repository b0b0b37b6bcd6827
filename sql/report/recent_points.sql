-- name: report/recent_points
-- grain: deployment × hour × hit-rate twentieth
-- params: none
-- reads: mart.busy_periods, mart.throughput_curve
-- units: tokens; microseconds
-- why: measured miss throughput of the newest day's busy periods, pooled per hour and 5 % of hit rate for drawing; of several
--      bases the hour's best; nothing from before the curve's window, which another engine or model served
with newest as (
  select deployment, max(minute_index) // 60 as last_hour
  from mart.busy_periods
  group by deployment
),

best as (
  select deployment, minute_index // 60 as hour_index, min(basis_rank) as basis_rank
  from mart.busy_periods
  where n_unreported = 0
  group by deployment, minute_index // 60
),

pooled as (
  select
    busy.deployment,
    busy.minute_index // 60 as hour_index,
    20 * busy.cached_tokens // busy.input_tokens as hit_twentieth,
    busy.n_requests,
    busy.input_tokens,
    busy.cached_tokens,
    busy.miss_tokens,
    busy.busy_us
  from mart.busy_periods as busy
  inner join newest on busy.deployment = newest.deployment and busy.minute_index // 60 > newest.last_hour - 24
  inner join best
    on
      busy.deployment = best.deployment
      and busy.minute_index // 60 = best.hour_index
      and busy.basis_rank = best.basis_rank
  left join mart.throughput_curve as curve
    on busy.deployment = curve.deployment and newest.last_hour // 24 = curve.day_index
  where
    busy.minute_index // 60 >= coalesce(curve.window_from_hour, 0)
    and busy.n_unreported = 0
    and busy.input_tokens > 0
    and busy.busy_us > 0
)

select
  deployment,
  hour_index,
  hit_twentieth,
  sum(n_requests)::bigint as n_requests,
  sum(input_tokens)::bigint as input_tokens,
  sum(cached_tokens)::bigint as cached_tokens,
  sum(miss_tokens)::bigint as miss_tokens,
  sum(busy_us)::bigint as busy_us
from pooled
group by deployment, hour_index, hit_twentieth
order by deployment, hour_index, hit_twentieth
