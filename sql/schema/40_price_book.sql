-- name: schema/40_price_book
-- grain: price row
-- params: none
-- reads: nothing
-- units: money per million tokens
-- why: the prices of the last run, as configured
create table if not exists mart.price_book (
  deployment varchar not null,
  effective_from date not null,
  effective_to date,
  hours_utc varchar,
  weekdays varchar,
  input_per_mtok double not null,
  cached_per_mtok double not null,
  cache_write_per_mtok double,
  output_per_mtok double,
  currency varchar not null
)
