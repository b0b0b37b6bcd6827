-- name: adhoc/index_by_length
-- grain: deployment × band of prompt lengths
-- params: deployment VARCHAR = % (like pattern), hours BIGINT = 24 (up to the deployment's newest)
-- reads: requests, hourly_hit_rate, valley_status, throughput_curve
-- units: tokens; seconds; ratios
-- question: What is the index of short and of long prompts?
-- why: bands as in profit_breakdown, powers of four of 4,096 tokens. The law is linear in its sums, so busy seconds
--      of the bands add up to those of the deployment: of a sum of revenue and of both busy seconds the index is
--      that of `valleywatch whatif`. Hours of one price alone, as there
-- comments:
--   deployment: those with a trusted curve
--   from_tokens: shortest prompts of the band, included
--   n_requests: that report cached tokens
--   hit_rate: token-weighted
--   busy_s: of the band, with its hits
--   busy_without_cache_s: if every token were computed
--   revenue: of its prompt tokens
--   revenue_index: below 1 the band's hits lose money
with newest as (
  select deployment, max(hour_utc) as hour_utc
  from hourly_hit_rate
  where reported_input_tokens > 0
  group by deployment
),

bands as (
  select
    requests.deployment,
    newest.hour_utc as newest_hour_utc,
    case
      when requests.input_tokens >= 65536 then 65536
      when requests.input_tokens >= 16384 then 16384
      when requests.input_tokens >= 4096 then 4096
      else 0
    end as from_tokens,
    status.input_per_mtok,
    status.cached_per_mtok,
    count(*) as n,
    sum(requests.input_tokens) as l,
    sum(requests.cached_tokens) as p,
    sum(requests.miss_tokens) as m,
    sum(cast(requests.miss_tokens * requests.cached_tokens as decimal(38, 0))) as mp,
    sum(cast(requests.miss_tokens * requests.miss_tokens as decimal(38, 0))) as mm,
    sum(cast(requests.input_tokens * requests.input_tokens as decimal(38, 0))) as ll
  from requests
  inner join newest on requests.deployment = newest.deployment
  inner join valley_status as status
    on requests.deployment = status.deployment and requests.hour_utc = status.hour_utc
  where
    requests.deployment like $deployment
    and requests.arrived_us >= epoch_us(newest.hour_utc) - ($hours - 1) * 3600000000
    and requests.day_utc >= cast(newest.hour_utc - to_hours(cast($hours as integer) - 1) as date)
    and requests.outcome = 'ok'
    and requests.cached_tokens is not null
    and requests.input_tokens > 0
    and status.input_per_mtok is not null
  group by
    requests.deployment, newest.hour_utc,
    case
      when requests.input_tokens >= 65536 then 65536
      when requests.input_tokens >= 16384 then 16384
      when requests.input_tokens >= 4096 then 4096
      else 0
    end,
    status.input_per_mtok, status.cached_per_mtok
),

timed as (
  select
    bands.deployment,
    bands.from_tokens,
    bands.n,
    bands.l,
    bands.p,
    (bands.m * bands.input_per_mtok + bands.p * bands.cached_per_mtok) / 1e6 as revenue,
    bands.l * bands.input_per_mtok / 1e6 as revenue_without_cache,
    curve.f * bands.n + curve.c * bands.m
    + curve.q * (cast(bands.mp as double) + cast(bands.mm as double) / 2)
    + curve.k * bands.p as busy_s,
    curve.f * bands.n + curve.c * bands.l + curve.q * cast(bands.ll as double) / 2 as busy_without_cache_s
  from bands
  inner join throughput_curve as curve
    on bands.deployment = curve.deployment and cast(bands.newest_hour_utc as date) = curve.day_utc
  where curve.trustworthy
)

select
  deployment,
  from_tokens,
  sum(n) as n_requests,
  sum(p) / sum(l) as hit_rate,
  sum(busy_s) as busy_s,
  sum(busy_without_cache_s) as busy_without_cache_s,
  sum(revenue) as revenue,
  sum(revenue) / sum(busy_s) / (sum(revenue_without_cache) / sum(busy_without_cache_s)) as revenue_index
from timed
group by deployment, from_tokens
order by deployment, from_tokens
