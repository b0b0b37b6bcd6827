-- name: views/price_book
-- grain: price row
-- params: none
-- reads: mart.price_book
-- units: money per million tokens; tokens
-- about: the price rows of the last run
-- why: the price rows of the last run: NULL in weekdays or hours_utc is always; from inclusive, to exclusive; source is the
--      place in the configuration or CSV, or the package, its version and its name of the model
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
