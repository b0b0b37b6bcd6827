-- name: adhoc/requests_by_status
-- grain: deployment × outcome × status
-- params: days BIGINT = 7 (up to the newest request)
-- reads: requests
-- units: requests; share in [0, 1] of the deployment's requests
-- question: How many requests failed, and how?
-- columns:
--   deployment: what served
--   outcome: ok, failed, or why a request is left out of the hit rates
--   status: as the log says it; NULL = it does not
--   n_requests: requests
--   share: of all requests of the deployment
with newest as (
  select max(arrived_at) as arrived_at
  from requests
),

counted as (
  select
    requests.deployment,
    requests.outcome,
    requests.status,
    count(*) as n_requests
  from requests
  cross join newest
  where requests.arrived_at > newest.arrived_at - to_days(cast($days as integer))
  group by requests.deployment, requests.outcome, requests.status
)

select
  deployment,
  outcome,
  status,
  n_requests,
  n_requests / sum(n_requests) over (partition by deployment) as share
from counted
order by deployment asc, n_requests desc, status asc
