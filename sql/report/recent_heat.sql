-- name: report/recent_heat
-- grain: deployment × hour × bin
-- params: none
-- reads: mart.hit_rate_histogram, mart.hourly_hit_rate
-- units: requests; tokens; bin bounds in thousandths
-- why: the hit-rate distribution of the same 24 hours
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.hourly_hit_rate
  group by deployment
)

select
  histogram.deployment,
  histogram.hour_index,
  histogram.bin_low_permille,
  histogram.bin_high_permille,
  histogram.n_requests,
  histogram.input_tokens
from mart.hit_rate_histogram as histogram
inner join newest on histogram.deployment = newest.deployment and histogram.hour_index > newest.last_hour - 24
order by histogram.deployment, histogram.hour_index, histogram.bin_low_permille
