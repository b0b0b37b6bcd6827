-- name: views/curve_by_length
-- grain: deployment × day × band
-- params: none
-- reads: mart.curve_by_length
-- units: tokens; tokens/s
-- about: the throughput curve at the prompt lengths of the deployment's own traffic
-- why: the line of throughput_curve's law at median_input_tokens of each band of prompt lengths: above low_input_tokens (the
--      first band: from it on) up to high_input_tokens. own_* are of a fit to that band's busy periods alone, agrees says
--      whether it gives the same curve; NULL where they say too little
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   day_utc: UTC date
--   band: number of the length band, shortest prompts first; each has a like share of the input tokens
--   low_input_tokens: prompt length above which the band lies [tokens]; of the first band, from which on
--   high_input_tokens: prompt length up to which it lies [tokens]
--   median_input_tokens: median prompt length, weighted by tokens [tokens]
--   tps0: throughput_curve's law at that length: computed prompt tokens per busy second at hit rate 0 [tokens/s]
--   tps0_low: lower end of its 90 % interval [tokens/s]
--   tps0_high: upper end of its 90 % interval [tokens/s]
--   a: slope of the line at that length [1]
--   a_low: lower end of its 90 % interval [1]
--   a_high: upper end of its 90 % interval [1]
--   own_tps0: tps0 of a fit to the band's own rows [tokens/s]; NULL = they say too little
--   own_a: a of a fit to the band's own rows [1]; NULL = they say too little
--   own_deviation: largest relative difference of the two curves [1]
--   n_minutes: rows of the band's own fit [rows]
--   agrees: whether the two curves are the same within what good data scatters; NULL = no own fit
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
