-- name: views/profit_breakdown
-- grain: deployment × hour × model × band of lengths
-- params: none
-- reads: mart.profit_breakdown
-- units: tokens; money in currency; ratios in [0, 1]
-- about: whose tokens an hour sold: by model and length
-- why: whose tokens an hour sold. Requests of input_tokens_from up to, not including, input_tokens_to input tokens; model
--      is NULL where the log names none. Rows add up to the hour: hit_rate and revenue are of reported and priced tokens
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
