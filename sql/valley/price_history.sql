-- name: valley/price_history
-- grain: price list × part
-- params: none
-- reads: mart.price_history
-- units: minutes of the hour; tokens; money per million tokens
-- why: the prices of published results, part by part in their order
select
  price_hash,
  from_minute,
  to_minute,
  input_tokens_from,
  input_tokens_to,
  input_per_mtok,
  cached_per_mtok,
  cache_write_per_mtok,
  output_per_mtok,
  currency,
  source
from mart.price_history
order by price_hash, from_minute, input_tokens_from
