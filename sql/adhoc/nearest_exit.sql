-- name: adhoc/nearest_exit
-- grain: deployment
-- params: none
-- reads: valley_status
-- units: hit rates; ratio
-- question: Which deployment is nearest to the exit of its valley?
-- why: the newest hour of each with a verdict; an exit that does not exist (no_valley, or a right rim that never
--      recovers) comes last
-- comments:
--   deployment: whom it is about
--   hour_utc: its newest hour with an index
--   hit_rate: token-weighted
--   exit_hit_rate: from which hits earn again; NULL = no valley, or no exit
--   to_go: exit less hit rate; negative: past it
--   revenue_index: of the hour
--   side: descending, ascending; what one more hit does
--   state: by policy
with newest as (
  select
    deployment,
    hour_utc,
    hit_rate,
    exit_hit_rate,
    revenue_index,
    side,
    state,
    row_number() over (partition by deployment order by hour_utc desc) as age
  from valley_status
  where revenue_index is not null
)

select
  deployment,
  hour_utc,
  hit_rate,
  exit_hit_rate,
  exit_hit_rate - hit_rate as to_go,
  revenue_index,
  side,
  state
from newest
where age = 1
order by abs(exit_hit_rate - hit_rate) asc nulls last, deployment asc
