-- name: ingest/never_over_half
-- grain: deployment of the staged file whose input was declared to leave the cached tokens out, and looks as if it did not
-- params: min_requests BIGINT
-- reads: staged
-- units: counts of requests
-- why: cached tokens that come close to the logged input in many requests and pass it in none are a part of it: added to it
--      they would count twice, and no hit rate could exceed one half
with logged as (
  select
    deployment,
    cached_tokens,
    input_tokens - cached_tokens - coalesce(cache_write_tokens, 0) as logged_tokens
  from staged
  where reason is null and outcome = 'ok' and cached_tokens > 0
)

select
  deployment,
  count(*)::bigint as n_requests,
  count(*) filter (where 10 * cached_tokens > 9 * logged_tokens)::bigint as n_close
from logged
group by deployment
having
  count(*) >= $min_requests
  and count(*) filter (where cached_tokens > logged_tokens) = 0
  and 100 * count(*) filter (where 10 * cached_tokens > 9 * logged_tokens) >= count(*)
order by n_close desc, deployment
