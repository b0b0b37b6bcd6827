-- name: views/profit_breakdown
-- grain: deployment × hour × model × band of lengths
-- params: none
-- reads: mart.profit_breakdown
-- units: tokens; money in currency; ratios in [0, 1]
-- about: whose tokens an hour sold: by model and length
-- why: whose tokens an hour sold. Requests of input_tokens_from up to, not including, input_tokens_to input tokens; model
--      is NULL where the log names none. Rows add up to the hour: hit_rate and revenue are of reported and priced tokens
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   hour_utc: start of the UTC hour [TIMESTAMP]
--   model: model as the log names it; NULL = not named
--   input_tokens_from: shortest prompt of the band [tokens]
--   input_tokens_to: prompt length the band ends before [tokens]; NULL = open
--   n_requests: requests answered [requests]
--   n_unknown: those that lack a count a price needs [requests]
--   reported_input_tokens: prompt tokens of requests that report cached_tokens [tokens]
--   miss_tokens: their computed prompt tokens [tokens]
--   cached_tokens: their cached prompt tokens [tokens]
--   output_tokens: generated tokens [tokens]
--   hit_rate: token-weighted, cached_tokens / reported_input_tokens, in [0, 1]
--   miss_revenue: what computed prompt tokens earned [currency]; NULL = not known
--   cached_revenue: what cached prompt tokens earned [currency]; NULL = not known
--   output_revenue: what generated tokens earned [currency]; NULL = not known
--   cache_write_revenue: what cache writes earned [currency]; NULL = not known
--   gross_revenue: all that is known to be earned [currency]
--   currency: ISO 4217 code of all money in the row
select
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  model,
  input_tokens_from,
  input_tokens_to,
  n_requests,
  n_unknown,
  reported_input_tokens,
  miss_tokens,
  cached_tokens,
  output_tokens,
  cached_tokens / nullif(reported_input_tokens, 0) as hit_rate,
  miss_revenue,
  cached_revenue,
  output_revenue,
  cache_write_revenue,
  gross_revenue,
  currency
from mart.profit_breakdown
