-- name: adhoc/tail_sessions
-- grain: session
-- params: share DOUBLE = 0.01 (of the deployment's requests, the slowest), days BIGINT = 7 (up to the newest hour
--      with traffic)
-- reads: requests, hourly_hit_rate
-- units: seconds; tokens; share in [0, 1]
-- question: Which sessions drive the tail of the time to first token?
-- why: the tail is the slowest share of each deployment's successful requests that report the time; the eight
--      sessions with the most of them
-- comments:
--   deployment: what served
--   session_id: the session; NULL = requests that name none
--   n_requests: its requests
--   n_in_tail: those of them in the tail
--   share_of_tail: of the deployment's tail
--   longest_ttft_s: its slowest
--   mean_input_tokens: of its requests in the tail
--   hit_rate: token-weighted, of its requests in the tail
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
),

ranked as (
  select
    requests.deployment,
    requests.session_id,
    requests.ttft_us,
    requests.input_tokens,
    requests.cached_tokens,
    row_number() over (
      partition by requests.deployment order by requests.ttft_us desc, requests.request_id asc
    ) <= $share * count(*) over (partition by requests.deployment) as is_in_tail
  from requests
  cross join newest
  where
    requests.arrived_us >= newest.end_us - $days * 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
    and requests.outcome = 'ok'
    and requests.ttft_us is not null
),

sessions as (
  select
    deployment,
    session_id,
    count(*) as n_requests,
    sum(case when is_in_tail then 1 else 0 end) as n_in_tail,
    max(ttft_us) as longest_ttft_us,
    sum(case when is_in_tail then input_tokens else 0 end) as tail_tokens,
    sum(case when is_in_tail and cached_tokens is not null then input_tokens else 0 end) as reported_tail_tokens,
    sum(case when is_in_tail then cached_tokens end) as cached_tail_tokens
  from ranked
  group by deployment, session_id
)

select
  deployment,
  session_id,
  n_requests,
  n_in_tail,
  n_in_tail / sum(n_in_tail) over (partition by deployment) as share_of_tail,
  longest_ttft_us / 1e6 as longest_ttft_s,
  tail_tokens / n_in_tail as mean_input_tokens,
  cached_tail_tokens / nullif(reported_tail_tokens, 0) as hit_rate
from sessions
where n_in_tail > 0
order by n_in_tail desc, longest_ttft_us desc, deployment asc, session_id asc
limit 8
