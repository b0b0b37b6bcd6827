-- name: adhoc/margins
-- grain: deployment × currency
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: profit_and_loss
-- units: money in currency; hours with traffic
-- question: Which deployments earn what their instances cost?
-- why: sums are of the hours in which the margin is known: n_known_hours of n_hours
-- comments:
--   deployment: whom it is about
--   n_hours: with traffic
--   n_known_hours: of which the margin is known
--   revenue: of all that is sold
--   cost: of the instances; NULL = not configured
--   margin: revenue less cost
--   n_loss_hours: known to cost more than they brought in; NULL = of none it is known
--   currency: of the amounts
with newest as (
  select max(hour_utc) as hour_utc
  from profit_and_loss
)

select
  hours.deployment,
  count(*) as n_hours,
  count(hours.margin) as n_known_hours,
  sum(case when hours.margin is not null then hours.gross_revenue end) as revenue,
  sum(case when hours.margin is not null then hours.cost end) as cost,
  sum(hours.margin) as margin,
  sum(case when hours.is_loss then 1 when not hours.is_loss then 0 end) as n_loss_hours,
  hours.currency
from profit_and_loss as hours
cross join newest
where hours.hour_utc > newest.hour_utc - to_days(cast($days as integer))
group by hours.deployment, hours.currency
order by margin asc nulls last, hours.deployment asc
