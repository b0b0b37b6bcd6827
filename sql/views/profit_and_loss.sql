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
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   hour_utc: start of the UTC hour [TIMESTAMP]
--   n_requests: requests answered [requests]
--   n_unknown: those that lack a count a price needs [requests]
--   miss_revenue: what computed prompt tokens earned [currency]; NULL = not known
--   cached_revenue: what cached prompt tokens earned [currency]; NULL = not known
--   output_revenue: what generated tokens earned [currency]; NULL = not known
--   cache_write_revenue: what cache writes earned [currency]; NULL = not known
--   gross_revenue: all that is known to be earned [currency]
--   unknown_revenue_at_most: what n_unknown requests earned beside it at most [currency]; NULL = no telling
--   n_in_time: requests known to be within the objective [requests]; NULL = no objective
--   n_late: requests known to be later [requests]
--   n_unknown_time: requests whose time is not known [requests]
--   in_time_revenue: what n_in_time earned [currency]
--   late_revenue: what n_late earned [currency]
--   unknown_time_revenue: what n_unknown_time earned [currency]
--   discount_given: what cached tokens would have earned more at the price of computed ones [currency]
--   instance_hours: hours of instances that were paid for [instance hours]
--   cost: what they cost [currency]
--   margin: gross_revenue − cost, at least [currency]
--   is_loss: whether the hour cost more than it earned; NULL = what is unknown decides
--   busy_s: time with a request waiting for or in prefill, of all instances [s]
--   revenue_per_busy_hour: gross_revenue per busy hour [currency/h]
--   in_time_revenue_per_busy_hour: in_time_revenue per busy hour [currency/h]
--   saved_busy_s: what computing the cached tokens would have taken [s]
--   cache_value: what hits earned against the same busy time without a cache [currency]; negative = they cost
--   cache_value_low: lower end of its 90 % interval [currency]
--   cache_value_high: upper end of its 90 % interval [currency]
--   currency: ISO 4217 code of all money in the row
--   reasons: codes of what is missing, with commas; empty = nothing
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
