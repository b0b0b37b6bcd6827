-- name: adhoc/price_change_by_session
-- grain: session
-- params: change DOUBLE = 0.1 (of the cached price, relative), days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate, valley_status
-- units: money in currency; relative change
-- question: Who would notice a change of the cached price?
-- why: the bill of prompt tokens, priced as published; hours of several prices are left out. The eight who would pay
--      most more
-- comments:
--   deployment: what served
--   session_id: whose requests; NULL = requests that name none
--   n_requests: that report cached tokens
--   bill: of computed and cached prompt tokens
--   more: what the change adds
--   share_more: more over bill
--   currency: of the amounts
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
),

sold as (
  select
    requests.deployment,
    requests.session_id,
    status.input_per_mtok,
    status.cached_per_mtok,
    status.currency,
    count(*) as n_requests,
    sum(requests.miss_tokens) as miss_tokens,
    sum(requests.cached_tokens) as cached_tokens
  from requests
  cross join newest
  inner join valley_status as status
    on requests.deployment = status.deployment and requests.hour_utc = status.hour_utc
  where
    requests.arrived_us >= newest.end_us - $days * 86400000000
    and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
    and requests.outcome = 'ok'
    and requests.cached_tokens is not null
    and status.input_per_mtok is not null
  group by
    requests.deployment, requests.session_id, status.input_per_mtok, status.cached_per_mtok, status.currency
)

select
  deployment,
  session_id,
  sum(n_requests) as n_requests,
  sum(miss_tokens * input_per_mtok + cached_tokens * cached_per_mtok) / 1e6 as bill,
  sum(cached_tokens * cached_per_mtok) * $change / 1e6 as more,
  sum(cached_tokens * cached_per_mtok) * $change
  / nullif(sum(miss_tokens * input_per_mtok + cached_tokens * cached_per_mtok), 0) as share_more,
  currency
from sold
group by deployment, session_id, currency
order by more desc, deployment asc, session_id asc
limit 8
