-- name: report/newest_lengths
-- grain: deployment × band
-- params: none
-- reads: mart.curve_by_length
-- units: tokens; tokens/s
-- why: the line by length of each deployment's newest day with traffic
select
  deployment,
  band,
  low_input_tokens,
  high_input_tokens,
  median_input_tokens,
  tps0,
  tps0_low,
  tps0_high,
  a,
  a_low,
  a_high,
  own_tps0,
  own_a,
  own_deviation,
  n_minutes,
  agrees
from mart.curve_by_length as newest
where day_index = (
  select max(hour_index) // 24 from mart.hourly_hit_rate as hourly where hourly.deployment = newest.deployment
)
order by deployment, band
