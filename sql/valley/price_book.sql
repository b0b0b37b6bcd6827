-- name: valley/price_book
-- grain: price row
-- params: none
-- reads: mart.price_book
-- units: money per million tokens
-- why: what the last verdicts were made with
select
  deployment,
  effective_from,
  effective_to,
  input_per_mtok,
  cached_per_mtok,
  cache_write_per_mtok,
  output_per_mtok,
  currency
from mart.price_book
