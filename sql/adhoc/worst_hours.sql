-- name: adhoc/worst_hours
-- grain: deployment × hour
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: valley_status
-- units: money in currency an hour; ratios
-- question: Which hours lost the most to their hits?
-- comments:
--   deployment: whom it is about
--   hour_utc: the hour
--   hit_rate: token-weighted
--   revenue_index: with the hits over without
--   lost_per_hour: against the same busy seconds without a cache
--   busy_share: of the hour; NULL = no instance is logged
--   state: by policy
--   currency: of the loss
with newest as (
  select max(hour_utc) as hour_utc
  from valley_status
)

select
  status.deployment,
  status.hour_utc,
  status.hit_rate,
  status.revenue_index,
  status.lost_per_hour,
  status.busy_share,
  status.state,
  status.currency
from valley_status as status
cross join newest
where status.hour_utc > newest.hour_utc - to_days(cast($days as integer)) and status.lost_per_hour > 0
order by status.lost_per_hour desc, status.deployment asc, status.hour_utc asc
limit 8
