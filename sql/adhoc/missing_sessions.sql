-- name: adhoc/missing_sessions
-- grain: session
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate
-- units: tokens; hit rate
-- question: Which sessions compute again what they have computed before?
-- why: a later request of a session usually begins with the earlier ones: miss tokens beyond those by which it is
--      longer than the longest before could have been hits. An estimate: a prompt may have been edited from its
--      beginning on; greatest and least pass over NULL, hence the case
-- comments:
--   deployment: what served
--   session_id: the session
--   n_requests: that report hits
--   input_tokens: of them
--   hit_rate: token-weighted
--   computed_again: miss tokens beyond the growth of the session
--   share: of its prompt tokens
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
),

ordered as (
  select
    requests.deployment,
    requests.session_id,
    requests.input_tokens,
    requests.cached_tokens,
    max(requests.input_tokens) over (
      partition by requests.deployment, requests.session_id
      order by requests.arrived_us asc, requests.request_id asc
      rows between unbounded preceding and 1 preceding
    ) as longest_before
  from requests
  cross join newest
  where
    requests.arrived_us >= newest.end_us - $days * 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
    and requests.outcome = 'ok'
    and requests.session_id is not null
    and requests.cached_tokens is not null
),

repeated as (
  select
    deployment,
    session_id,
    input_tokens,
    cached_tokens,
    case
      when longest_before is null then 0
      else greatest(least(longest_before, input_tokens) - cached_tokens, 0)
    end as computed_again
  from ordered
)

select
  deployment,
  session_id,
  count(*) as n_requests,
  sum(input_tokens) as input_tokens,
  sum(cached_tokens) / nullif(sum(input_tokens), 0) as hit_rate,
  sum(computed_again) as computed_again,
  sum(computed_again) / nullif(sum(input_tokens), 0) as share
from repeated
group by deployment, session_id
having sum(computed_again) > 0
order by computed_again desc, deployment asc, session_id asc
limit 8
