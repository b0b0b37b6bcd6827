-- name: views/price_history
-- grain: price list × part
-- params: none
-- reads: mart.price_history
-- units: minutes of the hour; tokens; money per million tokens
-- about: what a price_hash of valley_status stands for
-- why: what a price_hash of valley_status stands for: for which minutes of the hour and lengths (from inclusive, to exclusive) which prices held; source is that of the row it was first seen in
-- comments:
--   price_hash: name of the list, as in valley_status
--   from_minute: first minute of the hour
--   to_minute: minute it ends before
--   input_tokens_from: shortest prompt [tokens]
--   input_tokens_to: prompt length it ends before [tokens]; NULL = open
--   input_per_mtok: price of computed prompt tokens [currency per million tokens]
--   cached_per_mtok: price of cached prompt tokens [currency per million tokens]
--   cache_write_per_mtok: price of tokens written to a cache [currency per million tokens]; NULL = not sold
--   output_per_mtok: price of generated tokens [currency per million tokens]; NULL = not known
--   currency: ISO 4217 code of the prices
--   source: price row the list was first seen in
--   first_seen_at: when a published result used it first, UTC
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
