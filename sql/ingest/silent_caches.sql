-- name: ingest/silent_caches
-- grain: deployment of the staged file without a single hit
-- params: min_requests BIGINT
-- reads: staged
-- units: counts of requests
-- why: many requests without a hit are rarely a cache without luck: it is off, or is not reported. Only prompts of 256 tokens
--      and more are counted, the largest block that engines look up by
select
  deployment,
  count(*)::bigint as n_requests,
  count(cached_tokens)::bigint as n_reported
from staged
where reason is null and outcome = 'ok' and input_tokens >= 256
group by deployment
having count(*) >= $min_requests and coalesce(max(cached_tokens), 0) = 0
order by n_requests desc, deployment
