-- name: adhoc/instances
-- grain: deployment × instance
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate
-- units: tokens; hit rate; seconds
-- question: Do the instances of a deployment hit alike, or does routing lose the cache?
-- why: the eight with the lowest hit rate against that of their deployment
-- comments:
--   deployment: what served
--   instance: the replica; NULL = not logged
--   n_requests: that report hits
--   share_of_tokens: of the deployment's prompt tokens
--   hit_rate: token-weighted
--   deployment_hit_rate: of all its instances
--   p50_ttft_s: half of its first tokens come sooner; NULL = not logged
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
),

counted as (
  select
    requests.deployment,
    requests.instance,
    count(*) as n_requests,
    sum(requests.input_tokens) as input_tokens,
    sum(requests.cached_tokens) as cached_tokens,
    quantile_disc(requests.ttft_us, 0.5) as p50_ttft_us
  from requests
  cross join newest
  where
    requests.arrived_us >= newest.end_us - $days * 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
    and requests.outcome = 'ok'
    and requests.cached_tokens is not null
  group by requests.deployment, requests.instance
)

select
  deployment,
  instance,
  n_requests,
  input_tokens / nullif(sum(input_tokens) over (partition by deployment), 0) as share_of_tokens,
  cached_tokens / nullif(input_tokens, 0) as hit_rate,
  sum(cached_tokens) over (partition by deployment) / nullif(sum(input_tokens) over (partition by deployment), 0)
    as deployment_hit_rate,
  p50_ttft_us / 1e6 as p50_ttft_s
from counted
order by hit_rate - deployment_hit_rate, deployment, instance
limit 8
