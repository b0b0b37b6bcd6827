-- name: adhoc/cache_tiers
-- grain: deployment
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate
-- units: tokens; shares in [0, 1]
-- question: From which tier do the hits come: device, host or storage?
-- why: NULL where the log does not tell tiers apart, which is not 0
-- comments:
--   deployment: what served
--   cached_tokens: of all tiers
--   n_tiered: requests that tell them apart
--   share_device: of the cached tokens of those
--   share_host: in the host's memory
--   share_storage: from storage
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
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
  where
    requests.arrived_us >= newest.end_us - $days * 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
    and requests.outcome = 'ok'
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
