-- name: schema/36_profit_breakdown
-- grain: deployment × hour × model × band of lengths
-- params: none
-- reads: nothing
-- units: tokens; money in currency
-- why: what the hour's revenue is made of; model is NULL where the log names none, input_tokens_to where the band is open
create table if not exists mart.profit_breakdown (
  deployment varchar not null,
  hour_index bigint not null,
  model varchar,
  input_tokens_from bigint not null,
  input_tokens_to bigint,
  n_requests bigint not null,
  n_unknown bigint not null,
  reported_input_tokens bigint,
  miss_tokens bigint,
  cached_tokens bigint,
  output_tokens bigint,
  miss_revenue double,
  cached_revenue double,
  output_revenue double,
  cache_write_revenue double,
  gross_revenue double,
  currency varchar
)
