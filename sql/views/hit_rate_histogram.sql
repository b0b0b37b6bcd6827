-- name: views/hit_rate_histogram
-- grain: deployment × hour × bin
-- params: none
-- reads: mart.hit_rate_histogram
-- units: tokens; bin bounds in [0, 1]
-- about: how request hit rates are distributed within an hour
-- why: bins are [bin_low, bin_high); a bin whose bounds are equal holds exactly that rate (0 or 1)
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   hour_utc: start of the UTC hour [TIMESTAMP]
--   bin_low: lower bound of request_hit_rate, inclusive, in [0, 1]
--   bin_high: upper bound, exclusive, in [0, 1]; equal to bin_low: exactly that rate
--   n_requests: requests in the bin [requests]
--   input_tokens: their prompt tokens, cached ones included [tokens]
--   cached_tokens: their cached prompt tokens [tokens]
select
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  bin_low_permille / 1000 as bin_low,
  bin_high_permille / 1000 as bin_high,
  n_requests,
  input_tokens,
  cached_tokens
from mart.hit_rate_histogram
