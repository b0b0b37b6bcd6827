-- name: report/day_bins
-- grain: deployment × bin
-- params: none
-- reads: mart.hit_rate_histogram, mart.hourly_hit_rate
-- units: requests; tokens; bin bounds in thousandths
-- why: the distribution of each deployment's last 24 hours, in all its bins
with newest as (
  select deployment, max(hour_index) as last_hour
  from mart.hourly_hit_rate
  group by deployment
)

select
  histogram.deployment,
  newest.last_hour as hour_index,
  histogram.bin_low_permille,
  histogram.bin_high_permille,
  sum(histogram.n_requests)::bigint as n_requests,
  sum(histogram.input_tokens)::bigint as input_tokens
from mart.hit_rate_histogram as histogram
inner join newest on histogram.deployment = newest.deployment and histogram.hour_index > newest.last_hour - 24
group by histogram.deployment, newest.last_hour, histogram.bin_low_permille, histogram.bin_high_permille
order by histogram.deployment, histogram.bin_low_permille, histogram.bin_high_permille
