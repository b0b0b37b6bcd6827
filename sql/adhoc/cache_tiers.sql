-- name: adhoc/cache_tiers
-- grain: deployment
-- params: days BIGINT = 7 (up to the newest request)
-- reads: requests
-- units: tokens; shares in [0, 1]
-- question: From which tier do the hits come: device, host or storage?
-- why: NULL where the log does not tell tiers apart, which is not 0
-- columns:
--   deployment: what served
--   cached_tokens: of all tiers
--   n_tiered: requests that tell them apart
--   share_device: of the cached tokens of those
--   share_host: in the host's memory
--   share_storage: from storage
with newest as (
  select max(arrived_at) as arrived_at
  from requests
),

tiers as (
  select
    requests.deployment,
    requests.cached_tokens,
    requests.cached_device_tokens,
    requests.cached_host_tokens,
    requests.cached_storage_tokens,
    coalesce(requests.cached_device_tokens, requests.cached_host_tokens, requests.cached_storage_tokens) is not null
      as is_tiered
  from requests
  cross join newest
  where requests.arrived_at > newest.arrived_at - to_days(cast($days as integer)) and requests.outcome = 'ok'
)

select
  deployment,
  sum(cached_tokens) as cached_tokens,
  sum(case when is_tiered then 1 else 0 end) as n_tiered,
  sum(case when is_tiered then cached_device_tokens end) / nullif(sum(case when is_tiered then cached_tokens end), 0)
    as share_device,
  sum(case when is_tiered then cached_host_tokens end) / nullif(sum(case when is_tiered then cached_tokens end), 0)
    as share_host,
  sum(case when is_tiered then cached_storage_tokens end) / nullif(sum(case when is_tiered then cached_tokens end), 0)
    as share_storage
from tiers
group by deployment
order by deployment
