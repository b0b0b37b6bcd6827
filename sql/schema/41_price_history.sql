-- name: schema/41_price_history
-- grain: price list × part
-- params: none
-- reads: nothing
-- units: minutes of the hour; tokens; money per million tokens; microseconds
-- why: the prices of published results, named by price_hash; rows are added and never changed
create table if not exists mart.price_history (
  price_hash varchar not null,
  from_minute bigint not null,
  to_minute bigint not null,
  input_tokens_from bigint not null,
  input_tokens_to bigint,
  input_per_mtok double not null,
  cached_per_mtok double not null,
  cache_write_per_mtok double,
  output_per_mtok double,
  currency varchar not null,
  source varchar not null,
  first_seen_us bigint not null
)
