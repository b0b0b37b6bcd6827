-- name: views/price_book
-- grain: price row
-- params: none
-- reads: mart.price_book
-- units: money per million tokens; tokens
-- about: the price rows of the last run
-- why: the price rows of the last run: NULL in weekdays or hours_utc is always; from inclusive, to exclusive; source is the
--      place in the configuration or CSV, or the package, its version and its name of the model
-- comments:
--   deployment: glob of the deployments the row prices
--   effective_from: first instant, UTC
--   effective_to: end, exclusive, UTC; NULL = open
--   hours_utc: parts of the UTC day such as 16:30-00:30; NULL = always
--   weekdays: days of the week such as mon-fri; NULL = always
--   input_tokens_from: shortest prompt the row prices [tokens]
--   input_tokens_to: prompt length it ends before [tokens]; NULL = open
--   input_per_mtok: price of computed prompt tokens [currency per million tokens]
--   cached_per_mtok: price of cached prompt tokens [currency per million tokens]
--   cache_write_per_mtok: price of tokens written to a cache [currency per million tokens]; NULL = not sold
--   output_per_mtok: price of generated tokens [currency per million tokens]; NULL = not known
--   currency: ISO 4217 code of the prices
--   source: where the row stands: in the configuration, in the CSV, or in which version of which package
select
  deployment,
  make_timestamp(effective_from_us) as effective_from,
  make_timestamp(effective_to_us) as effective_to,
  hours_utc,
  weekdays,
  input_tokens_from,
  input_tokens_to,
  input_per_mtok,
  cached_per_mtok,
  cache_write_per_mtok,
  output_per_mtok,
  currency,
  source
from mart.price_book
