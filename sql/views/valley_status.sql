-- name: views/valley_status
-- grain: deployment × hour
-- params: none
-- reads: mart.valley_status
-- units: ratios; seconds; lost_per_hour in currency (negative: the cache earns)
-- about: the verdict: index, floor, exit, state, side, and what an hour lost
-- why: state follows policy over hours; revenue_index is of the hour's own traffic; the bounds are 90 % intervals;
--      p_valley is the probability that the line has a valley at all, a lower bound is unknown where it may have none. Where
--      n_prices > 1, input_per_mtok and cached_per_mtok are NULL, price_ratio is revenue-weighted (cached_revenue /
--      cached_at_miss_price) and so are floor, exit and depth; the index is exact at any number of prices. The revenues
--      are of miss tokens, of cached tokens, and of either had they been sold as the other. Hit rates are
--      weighted by tokens, by requests, by busy time. With revenue_scope full the index counts output_revenue and
--      cache_write_revenue of the requests that report hits, and decode_s beside the busy time where that is known; floor,
--      exit and depth are then those of the hour's own mix, without bounds
select
  deployment,
  make_timestamp(hour_index * 3600000000) as hour_utc,
  hit_rate,
  mean_request_hit_rate,
  busy_hit_rate,
  price_ratio,
  input_per_mtok,
  cached_per_mtok,
  n_prices,
  miss_revenue,
  cached_revenue,
  cached_at_miss_price,
  miss_at_cached_price,
  revenue_scope,
  output_revenue,
  cache_write_revenue,
  decode_s,
  price_hash,
  revenue_index,
  index_low,
  index_high,
  p_in_valley,
  floor_hit_rate,
  exit_hit_rate,
  floor_depth,
  p_valley,
  floor_low,
  floor_high,
  exit_low,
  exit_high,
  depth_low,
  depth_high,
  marginal_index,
  side,
  regime,
  busy_share,
  state,
  is_held,
  lost_per_hour,
  currency,
  reasons
from mart.valley_status
