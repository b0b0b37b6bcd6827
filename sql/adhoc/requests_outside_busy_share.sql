-- name: adhoc/requests_outside_busy_share
-- grain: deployment × instance
-- params: busy_share DOUBLE = 0.7 (from which an hour is limited by capacity), deployment VARCHAR = % (like pattern),
--      days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate, valley_status
-- units: requests; share in [0, 1]
-- question: How many requests did each instance serve in hours outside the busy share?
-- why: the busy share is of the deployment's hour: busy seconds of its instances over the hour's; NULL where no
--      instance is logged, and such hours are counted apart
-- comments:
--   deployment: what served
--   instance: the replica; NULL = not logged
--   n_requests: requests
--   n_outside: those in hours below the busy share
--   n_unknown: those in hours whose busy share is not known
--   share_outside: n_outside over the requests of known hours
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
)

select
  requests.deployment,
  requests.instance,
  count(*) as n_requests,
  sum(case when status.busy_share < $busy_share then 1 else 0 end) as n_outside,
  sum(case when status.busy_share is null then 1 else 0 end) as n_unknown,
  sum(case when status.busy_share < $busy_share then 1 else 0 end) / nullif(count(status.busy_share), 0)
    as share_outside
from requests
cross join newest
left join valley_status as status
  on requests.deployment = status.deployment and requests.hour_utc = status.hour_utc
where
  requests.deployment like $deployment
  and requests.arrived_us >= newest.end_us - $days * 86400000000
  and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
group by requests.deployment, requests.instance
order by requests.deployment, requests.instance
