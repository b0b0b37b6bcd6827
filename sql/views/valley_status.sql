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
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   hour_utc: start of the UTC hour [TIMESTAMP]
--   hit_rate: token-weighted, in [0, 1]; NULL = nothing reported
--   mean_request_hit_rate: mean over requests, in [0, 1]
--   busy_hit_rate: weighted by the busy time of minutes, in [0, 1]; NULL = no busy periods
--   price_ratio: price of a cached over that of a computed token [1]; of several prices, weighted by revenue
--   input_per_mtok: price of computed tokens [currency per million tokens]; NULL = none, or several
--   cached_per_mtok: price of cached tokens [currency per million tokens]; NULL = none, or several
--   n_prices: prices that held for requests of the hour; NULL = some have no price
--   miss_revenue: what computed tokens earned [currency]
--   cached_revenue: what cached tokens earned [currency]
--   cached_at_miss_price: what cached tokens would have earned as computed ones [currency]
--   miss_at_cached_price: what computed tokens would have earned as cached ones [currency]
--   revenue_scope: what the index counts: input, or full (output, cache writes and decoding too)
--   output_revenue: what generated tokens earned [currency]; scope full
--   cache_write_revenue: what cache writes earned [currency]; scope full
--   decode_s: decoding time counted beside the busy time [s]; scope full, NULL = not known
--   price_hash: name of the hour's prices in price_history
--   revenue_index: revenue per busy second over that of the same traffic without a cache [1]; below 1 hits lose money
--   index_low: lower end of its 90 % interval [1]
--   index_high: upper end of its 90 % interval [1]
--   p_in_valley: probability that the index is below 1
--   floor_hit_rate: hit rate at which the bathtub is deepest, in [0, 1]; NULL = no valley
--   exit_hit_rate: hit rate at which the valley ends, in [0, 1]; NULL = no valley, or none within reach
--   floor_depth: share of revenue lost at the floor, in [0, 1]
--   p_valley: probability that the line has a valley at all
--   floor_low: lower end of the floor's 90 % interval
--   floor_high: upper end of the floor's 90 % interval
--   exit_low: lower end of the exit's 90 % interval
--   exit_high: upper end of the exit's 90 % interval
--   depth_low: lower end of the depth's 90 % interval
--   depth_high: upper end of the depth's 90 % interval
--   marginal_index: change of the index by one more unit of hit rate [1]; negative = one more hit loses money
--   side: descending (one more hit loses money) or ascending
--   regime: capacity_limited or demand_limited, by busy_share
--   busy_share: busy time over wall time of its instances [1]; a little over 1 where an overloaded hour's first tokens
--     come late
--   state: in_valley, escaped, no_valley or unknown, by policy over hours
--   is_held: whether the hour said too little and the state is that of the hour before
--   lost_per_hour: what the same busy time would have earned more without a cache [currency/h]; negative = hits earn
--   currency: ISO 4217 code of all money in the row
--   reasons: codes of what is missing or particular, with commas; empty = nothing
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
