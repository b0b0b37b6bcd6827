-- name: report/profit_parts
-- grain: hour × model × band of lengths
-- params: deployment VARCHAR, first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.profit_breakdown
-- units: tokens; money in currency
-- why: what the revenue of a stretch is made of
select
  model,
  input_tokens_from,
  input_tokens_to,
  n_requests,
  n_unknown,
  reported_input_tokens,
  miss_tokens,
  cached_tokens,
  output_tokens,
  miss_revenue,
  cached_revenue,
  output_revenue,
  cache_write_revenue,
  gross_revenue,
  currency
from mart.profit_breakdown
where deployment = $deployment and hour_index between $first_hour and $last_hour
order by hour_index, model, input_tokens_from
