-- name: views/hourly_hit_rate
-- grain: deployment × hour
-- params: none
-- reads: mart.hourly_hit_rate
-- units: tokens; ratios in [0, 1]
-- about: traffic and hit rate of an hour, with the sums from which its index is exact
-- why: hit_rate is token-weighted over the requests that report cached tokens; mean, p10, p50, p90 are of request_hit_rate; coverage is the share of requests that report; n_left_out counts warm-ups, health checks, response-cache answers and requests without a time
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   hour_utc: start of the UTC hour [TIMESTAMP]
--   n_requests: requests answered [requests]
--   n_failed: requests that failed or were aborted, in no other column [requests]
--   n_left_out: warm-ups, health checks, response-cache answers and requests without a time, in no other column
--     [requests]
--   n_reported: requests that report cached_tokens [requests]
--   input_tokens: prompt tokens of n_requests, cached ones included [tokens]
--   reported_input_tokens: prompt tokens of n_reported [tokens]
--   cached_tokens: cached prompt tokens of n_reported [tokens]
--   miss_tokens: computed prompt tokens of n_reported [tokens]
--   output_tokens: generated tokens of n_requests [tokens]
--   hit_rate: token-weighted, cached_tokens / reported_input_tokens, in [0, 1]; NULL = nothing reported
--   mean_request_hit_rate: mean of request_hit_rate, each request counting the same, in [0, 1]
--   p10: 10th percentile of request_hit_rate, in [0, 1]
--   p50: median of request_hit_rate, in [0, 1]
--   p90: 90th percentile of request_hit_rate, in [0, 1]
--   share_zero: share of requests without any hit, in [0, 1]
--   share_over_99: share of requests with request_hit_rate above .99, in [0, 1]
--   coverage: share of requests that report cached_tokens, in [0, 1]
--   sum_miss_cached: sum of miss_tokens × cached_tokens of n_reported [tokens²]
--   sum_miss_sq: sum of miss_tokens² of n_reported [tokens²]
--   sum_cached_sq: sum of cached_tokens² of n_reported [tokens²]
--   sum_input_sq: sum of input_tokens² of n_reported [tokens²]
select
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  n_requests,
  n_failed,
  n_left_out,
  n_reported,
  input_tokens,
  reported_input_tokens,
  cached_tokens,
  miss_tokens,
  output_tokens,
  cached_tokens / nullif(reported_input_tokens, 0) as hit_rate,
  sum_request_hit_ppb / nullif(n_rated, 0) / 1e9 as mean_request_hit_rate,
  p10_request_hit_ppb / 1e9 as p10,
  p50_request_hit_ppb / 1e9 as p50,
  p90_request_hit_ppb / 1e9 as p90,
  n_zero / nullif(n_rated, 0) as share_zero,
  n_over_99 / nullif(n_rated, 0) as share_over_99,
  n_reported / nullif(n_requests, 0) as coverage,
  sum_miss_cached,
  sum_miss_sq,
  sum_cached_sq,
  sum_input_sq
from mart.hourly_hit_rate
