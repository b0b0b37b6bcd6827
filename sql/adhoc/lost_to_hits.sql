-- name: adhoc/lost_to_hits
-- grain: deployment × currency
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: profit_and_loss
-- units: money in currency; hours with traffic
-- question: Which deployments lost money to their cache hits in the last days?
-- why: cache_value is what the hits earned against the same busy seconds without a cache; an hour of which it is not known
--      (no price, no trustworthy curve) is in n_hours and not in n_known_hours
-- comments:
--   deployment: the ones whose known hours sum to a loss, the largest first
--   n_hours: hours with traffic
--   n_known_hours: those of which the value of the hits is known
--   hits_cost: what the hits cost in them
--   hits_cost_low: lower end, if every hour is at the good end of its 90 % interval
--   hits_cost_high: upper end
--   currency: of the amounts
with newest as (
  select max(hour_utc) as hour_utc
  from profit_and_loss
)

select
  hours.deployment,
  count(*) as n_hours,
  count(hours.cache_value) as n_known_hours,
  -sum(hours.cache_value) as hits_cost,
  -sum(hours.cache_value_high) as hits_cost_low,
  -sum(hours.cache_value_low) as hits_cost_high,
  hours.currency
from profit_and_loss as hours
cross join newest
where hours.hour_utc > newest.hour_utc - to_days(cast($days as integer))
group by hours.deployment, hours.currency
having sum(hours.cache_value) < 0
order by hits_cost desc, hours.deployment asc
