-- name: adhoc/discount_against_savings
-- grain: deployment × currency
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: profit_and_loss
-- units: money in currency; hours; seconds
-- question: Is the discount on cached tokens paid for by the busy time they save?
-- why: the discount is what cached tokens would have brought at the price of computed ones; of the hours in which
--      the value of the hits is known
-- comments:
--   deployment: whom it is about
--   n_hours: in which it is known
--   discount_given: to the buyers of cached tokens
--   saved_busy_hours: instance hours that computing them would have taken
--   cache_value: what the hits earned in the end; negative: the discount was larger
--   currency: of the amounts
with newest as (
  select max(hour_utc) as hour_utc
  from profit_and_loss
)

select
  hours.deployment,
  count(*) as n_hours,
  sum(hours.discount_given) as discount_given,
  sum(hours.saved_busy_s) / 3600 as saved_busy_hours,
  sum(hours.cache_value) as cache_value,
  hours.currency
from profit_and_loss as hours
cross join newest
where
  hours.hour_utc > newest.hour_utc - to_days(cast($days as integer))
  and hours.cache_value is not null
group by hours.deployment, hours.currency
order by cache_value, hours.deployment
