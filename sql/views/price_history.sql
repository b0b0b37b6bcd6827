-- name: views/price_history
-- grain: price list × part
-- params: none
-- reads: mart.price_history
-- units: minutes of the hour; tokens; money per million tokens
-- about: what a price_hash of valley_status stands for
-- why: what a price_hash of valley_status stands for: for which minutes of the hour and lengths (from inclusive, to exclusive) which prices held; source is that of the row it was first seen in
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
  source,
  make_timestamp(first_seen_us) as first_seen_at
from mart.price_history
