-- name: checks/deployments_profile
-- grain: deployment
-- params: from_us BIGINT, to_us BIGINT
-- reads: requests
-- units: counts of requests; bases as where the time to first token is taken and where the count of cached tokens is from
-- why: what only a whole day shows: a cache that never hits (of prompts of 256 tokens and more, the largest block that
--      engines look up by), and logs from different places under one name
with placed as (
  select
    deployment,
    ttft_basis || ' ' || case when cached_basis = 'declared' then 'measured' else cached_basis end as basis,
    outcome,
    instance,
    ttft_us,
    input_tokens,
    cached_tokens
  from requests
  where arrived_us >= $from_us and arrived_us < $to_us
),

bases as (
  select
    deployment,
    basis,
    count(*) filter (where outcome = 'ok' and input_tokens >= 256 and cached_tokens is not null) as n_reported,
    count(*) filter (where outcome = 'ok' and cached_tokens > 0) as n_hits,
    count(*) filter (where outcome = 'ok' and ttft_us is not null and instance is not null) as n_timed
  from placed
  group by deployment, basis
)

select
  deployment,
  string_agg(basis, ', ' order by basis) filter (where n_timed > 0) as bases,
  greatest(count(*) filter (where n_timed > 0), 1)::bigint as n_bases,
  sum(n_reported)::bigint as n_reported,
  case when sum(n_reported) >= 1000 and sum(n_hits) = 0 then 1 else 0 end as n_silent_caches
from bases
group by deployment
order by deployment
