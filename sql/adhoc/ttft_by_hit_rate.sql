-- name: adhoc/ttft_by_hit_rate
-- grain: band of request hit rates
-- params: deployment VARCHAR = % (like pattern), days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate
-- units: seconds
-- question: How much sooner does the first token come with more hits?
-- why: waiting is in it: under load it says more of the queue than of the cache. Quantiles are of the requests
--      themselves
-- comments:
--   from_hit_rate: the band's lower end, included
--   n_requests: that report hits and the time
--   median_input_tokens: their length
--   p50_ttft_s: half come sooner
--   p95_ttft_s: of twenty, one comes later
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
)

select
  least(requests.cached_tokens * 5 // requests.input_tokens, 4) / 5 as from_hit_rate,
  count(*) as n_requests,
  quantile_disc(requests.input_tokens, 0.5) as median_input_tokens,
  quantile_disc(requests.ttft_us, 0.5) / 1e6 as p50_ttft_s,
  quantile_disc(requests.ttft_us, 0.95) / 1e6 as p95_ttft_s
from requests
cross join newest
where
  requests.deployment like $deployment
  and requests.arrived_us >= newest.end_us - $days * 86400000000
  and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
  and requests.outcome = 'ok'
  and requests.cached_tokens is not null
  and requests.ttft_us is not null
  and requests.input_tokens > 0
group by least(requests.cached_tokens * 5 // requests.input_tokens, 4)
order by from_hit_rate
