-- name: schema/31_curve_by_length
-- grain: deployment × day × band
-- params: none
-- reads: nothing
-- units: tokens; tokens/s
-- why: the line at the lengths of the deployment's own traffic, each band a like share of its input tokens; own_* are of a
--      fit to the busy periods of that band alone, NULL where they say too little
create table if not exists mart.curve_by_length (
  deployment varchar not null,
  day_index bigint not null,
  band bigint not null,
  low_input_tokens bigint not null,
  high_input_tokens bigint not null,
  median_input_tokens bigint not null,
  tps0 double,
  tps0_low double,
  tps0_high double,
  a double,
  a_low double,
  a_high double,
  own_tps0 double,
  own_a double,
  own_deviation double,
  n_minutes bigint not null,
  agrees boolean
)
