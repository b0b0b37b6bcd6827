-- name: valley/instances
-- grain: deployment × hour
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us))
-- reads: requests
-- units: instances; microseconds
-- why: which instances are seen at work, and how long they had a request in flight: the union, instance by instance, of
--      arrival to end, counted in the hour of the arrival that adds to it. n_unknown were served and name no instance or
--      no end. Requests that arrived on the day before are not read: the hour is a function of its day alone
with seen as (
  select
    deployment,
    arrived_us // 3600000000 as hour_index,
    instance,
    arrived_us,
    case when outcome = 'ok' then arrived_us + e2e_us end as end_us,
    case when outcome = 'ok' and (instance is null or e2e_us is null) then 1 else 0 end as is_unknown
  from requests
  where arrived_us >= $from_us and arrived_us < $to_us
),

ordered as (
  select
    deployment,
    hour_index,
    instance,
    end_us,
    is_unknown,
    arrived_us,
    max(end_us) over (
      partition by deployment, instance order by arrived_us asc, end_us asc nulls last
      rows between unbounded preceding and 1 preceding
    ) as in_flight_until_us
  from seen
)

select
  deployment,
  hour_index,
  nullif(count(distinct instance), 0)::bigint as n_instances,
  sum(is_unknown)::bigint as n_unknown,
  coalesce(sum(case
    when instance is null or in_flight_until_us >= end_us then 0
    when in_flight_until_us > arrived_us then end_us - in_flight_until_us
    else end_us - arrived_us
  end), 0)::bigint as in_flight_us
from ordered
group by deployment, hour_index
order by deployment, hour_index
