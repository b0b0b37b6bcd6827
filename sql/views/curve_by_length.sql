-- name: views/curve_by_length
-- grain: deployment × day × band
-- params: none
-- reads: mart.curve_by_length
-- units: tokens; tokens/s
-- about: the throughput curve at the prompt lengths of the deployment's own traffic
-- why: the line of throughput_curve's law at median_input_tokens of each band of prompt lengths: above low_input_tokens (the
--      first band: from it on) up to high_input_tokens. own_* are of a fit to that band's busy periods alone, agrees says
--      whether it gives the same curve; NULL where they say too little
select
  deployment,
  make_date(day_index::integer) as day_utc,
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
from mart.curve_by_length
