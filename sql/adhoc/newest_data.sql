-- name: adhoc/newest_data
-- grain: deployment
-- params: none
-- reads: requests
-- units: times UTC; seconds
-- question: Which deployments have gone quiet?
-- why: against the newest request of all: with one warehouse for several time zones, or one source that stopped, the
--      first rows are the quiet ones
-- comments:
--   deployment: what served
--   newest_arrived_at: its newest request, UTC
--   behind_s: behind the newest of all
--   n_last_day: requests in its last 24 hours
--   sources: from which they come
with newest as (
  select deployment, max(arrived_us) as arrived_us
  from requests
  group by deployment
)

select
  newest.deployment,
  make_timestamp(newest.arrived_us) as newest_arrived_at,
  (max(newest.arrived_us) over () - newest.arrived_us) / 1e6 as behind_s,
  count(*) as n_last_day,
  string_agg(distinct requests.source_name, ', ' order by requests.source_name) as sources
from newest
inner join requests
  on
    newest.deployment = requests.deployment
    and requests.arrived_us > newest.arrived_us - 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.arrived_us - 86400000000) as date)
group by newest.deployment, newest.arrived_us
order by behind_s desc, newest.deployment asc
