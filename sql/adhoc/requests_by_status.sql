-- name: adhoc/requests_by_status
-- grain: deployment × outcome × status
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate
-- units: requests; share in [0, 1] of the deployment's requests
-- question: How many requests failed, and how?
-- why: those that succeeded have no row; a deployment without failures has none
-- comments:
--   deployment: what served
--   outcome: failed, aborted, or why a request is left out of the hit rates
--   status: as the log says it; NULL = it does not
--   n_requests: requests
--   share: of all requests of the deployment
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
),

counted as (
  select
    requests.deployment,
    requests.outcome,
    requests.status,
    count(*) as n_requests,
    sum(count(*)) over (partition by requests.deployment) as n_of_requests
  from requests
  cross join newest
  where
    requests.arrived_us >= newest.end_us - $days * 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
  group by requests.deployment, requests.outcome, requests.status
)

select
  deployment,
  outcome,
  status,
  n_requests,
  n_requests / n_of_requests as share
from counted
where outcome <> 'ok'
order by share desc, deployment asc, status asc
limit 8
