-- name: adhoc/price_ratio
-- grain: deployment
-- params: price_ratio DOUBLE = 0.05 (price of a cached over that of a computed token), hours BIGINT = 24 (up to the
--         deployment's newest)
-- reads: hourly_hit_rate, valley_status, throughput_curve
-- units: money in currency; ratios; hit rates
-- question: What would another price ratio have earned on the same traffic?
-- why: exact for any mix of lengths: busy seconds follow from sums over requests, f·n + c·ΣM + q·(ΣMP + ΣM²/2) + k·ΣP with
--      the hits and f·n + c·ΣL + q·ΣL²/2 without, and the price has no say in them. Hours of one price alone, under the
--      trusted curve of the deployment's newest day, as `valleywatch whatif` takes them; a deployment whose price
--      changed within the hours is left out
-- comments:
--   deployment: those with a trusted curve and one price
--   hit_rate: token-weighted
--   price_ratio: what held
--   revenue: of its prompt tokens
--   revenue_index: revenue of a busy second over that without a cache
--   revenue_then: at the other ratio
--   index_then: at the other ratio
--   earns_more: revenue_then - revenue
--   currency: of the amounts
with newest as (
  select deployment, max(hour_utc) as hour_utc
  from hourly_hit_rate
  where reported_input_tokens > 0
  group by deployment
),

mixes as (
  select
    hourly.deployment,
    max(newest.hour_utc) as newest_hour_utc,
    sum(hourly.n_reported) as n,
    sum(hourly.reported_input_tokens) as l,
    sum(hourly.cached_tokens) as p,
    sum(hourly.miss_tokens) as m,
    sum(hourly.sum_miss_cached) as mp,
    sum(hourly.sum_miss_sq) as mm,
    sum(hourly.sum_input_sq) as ll,
    min(status.input_per_mtok) as input_per_mtok,
    min(status.cached_per_mtok) as cached_per_mtok,
    min(status.currency) as currency
  from hourly_hit_rate as hourly
  inner join newest on hourly.deployment = newest.deployment
  inner join valley_status as status
    on hourly.deployment = status.deployment and hourly.hour_utc = status.hour_utc
  where
    hourly.hour_utc > newest.hour_utc - to_hours(cast($hours as integer))
    and hourly.reported_input_tokens > 0
    and status.price_hash is not null
  group by hourly.deployment
  having count(distinct status.price_hash) = 1 and count(status.input_per_mtok) = count(*)
),

timed as (
  select
    mixes.deployment,
    mixes.currency,
    mixes.input_per_mtok,
    mixes.cached_per_mtok / mixes.input_per_mtok as ratio,
    cast(mixes.l as double) as l,
    cast(mixes.p as double) as p,
    cast(mixes.m as double) as m,
    curve.f * mixes.n + curve.c * mixes.m
    + curve.q * (cast(mixes.mp as double) + cast(mixes.mm as double) / 2)
    + curve.k * mixes.p as busy_s,
    curve.f * mixes.n + curve.c * mixes.l
    + curve.q * cast(mixes.ll as double) / 2 as busy_without_cache_s
  from mixes
  inner join throughput_curve as curve
    on mixes.deployment = curve.deployment and cast(mixes.newest_hour_utc as date) = curve.day_utc
  where curve.trustworthy
)

select
  deployment,
  p / l as hit_rate,
  ratio as price_ratio,
  (m + ratio * p) * input_per_mtok / 1e6 as revenue,
  (m + ratio * p) / l * busy_without_cache_s / busy_s as revenue_index,
  (m + $price_ratio * p) * input_per_mtok / 1e6 as revenue_then,
  (m + $price_ratio * p) / l * busy_without_cache_s / busy_s as index_then,
  ($price_ratio - ratio) * p * input_per_mtok / 1e6 as earns_more,
  currency
from timed
order by earns_more desc, deployment asc
