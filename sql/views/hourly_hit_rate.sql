-- name: views/hourly_hit_rate
-- grain: deployment × hour
-- params: none
-- reads: mart.hourly_hit_rate
-- units: tokens; ratios in [0, 1]
-- about: traffic and hit rate of an hour, with the sums from which its index is exact
-- why: hit_rate is token-weighted over the requests that report cached tokens; mean, p10, p50, p90 are of request_hit_rate; coverage is the share of requests that report; n_left_out counts warm-ups, health checks, response-cache answers and requests without a time
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
