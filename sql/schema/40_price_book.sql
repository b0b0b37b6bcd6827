-- name: schema/40_price_book
-- grain: price row
-- params: none
-- reads: nothing
-- units: microseconds; tokens; money per million tokens
-- why: the price rows of the last run
create table if not exists mart.price_book (
  deployment varchar not null,
  effective_from_us bigint not null,
  effective_to_us bigint,
  weekdays varchar,
  hours_utc varchar,
  input_tokens_from bigint not null,
  input_tokens_to bigint,
  input_per_mtok double not null,
  cached_per_mtok double not null,
  cache_write_per_mtok double,
  output_per_mtok double,
  currency varchar not null,
  source varchar not null
)
