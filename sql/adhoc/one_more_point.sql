-- name: adhoc/one_more_point
-- grain: deployment
-- params: none
-- reads: valley_status, hourly_hit_rate
-- units: money in currency an hour; ratio
-- question: What is one more point of hit rate worth?
-- why: of the newest hour with a verdict: marginal_index is the change of the index by a hit rate of 1, so a point
--      is a hundredth of it, over the index of what the hour earned
-- comments:
--   deployment: whom it is about
--   hour_utc: its newest hour with an index
--   hit_rate: token-weighted
--   revenue_index: of the hour
--   side: descending: a point more loses money
--   index_of_a_point: what the index gains
--   earns_per_hour: in the same busy seconds
--   currency: of the amount
with newest as (
  select
    deployment,
    hour_utc,
    hit_rate,
    revenue_index,
    side,
    marginal_index,
    miss_revenue + cached_revenue
    + case when revenue_scope = 'full' then output_revenue + coalesce(cache_write_revenue, 0) else 0 end as revenue,
    currency,
    row_number() over (partition by deployment order by hour_utc desc) as age
  from valley_status
  where revenue_index is not null
)

select
  deployment,
  hour_utc,
  hit_rate,
  revenue_index,
  side,
  marginal_index / 100 as index_of_a_point,
  marginal_index / 100 * revenue / nullif(revenue_index, 0) as earns_per_hour,
  currency
from newest
where age = 1
order by earns_per_hour, deployment
