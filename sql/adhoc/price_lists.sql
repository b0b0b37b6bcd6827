-- name: adhoc/price_lists
-- grain: deployment × price list
-- params: none
-- reads: valley_status, price_history
-- units: money per million tokens; minutes of the hour; tokens
-- question: Which prices were in force, and when?
-- why: prices as published: a row that was edited since changes nothing here
-- comments:
--   deployment: whom it is about
--   first_hour_utc: first hour published with the list
--   last_hour_utc: the last one
--   n_hours: of them
--   from_minute: of the hour, where a price holds in part of it
--   input_tokens_from: lengths from which it holds
--   input_per_mtok: of a computed token
--   cached_per_mtok: of a cached one
--   output_per_mtok: of an output token; NULL = none
--   currency: of the prices
with used as (
  select
    deployment,
    price_hash,
    min(hour_utc) as first_hour_utc,
    max(hour_utc) as last_hour_utc,
    count(*) as n_hours
  from valley_status
  where price_hash is not null
  group by deployment, price_hash
)

select
  used.deployment,
  used.first_hour_utc,
  used.last_hour_utc,
  used.n_hours,
  lists.from_minute,
  lists.input_tokens_from,
  lists.input_per_mtok,
  lists.cached_per_mtok,
  lists.output_per_mtok,
  lists.currency
from used
inner join price_history as lists on used.price_hash = lists.price_hash
order by used.deployment, used.first_hour_utc, lists.from_minute, lists.input_tokens_from
limit 8
