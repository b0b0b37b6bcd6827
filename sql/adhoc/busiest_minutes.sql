-- name: adhoc/busiest_minutes
-- grain: deployment × minute
-- params: deployment VARCHAR = % (like pattern)
--      days BIGINT = 7 (up to the newest hour with traffic)
-- reads: busy_periods, hourly_hit_rate
-- units: seconds; tokens/s; hit rate
-- question: Which minutes of the last days were the busiest, and what did they serve?
-- why: busy seconds of all instances; of the basis that curves use. A row of a busy period counts in the minute of
--      its first tokens. The busiest are found first, by one column: the rest is read of those alone
-- comments:
--   deployment: what served
--   minute_utc: of the first tokens
--   n_instances: that served in it
--   busy_s: waiting for or in prefill
--   n_requests: whose first token came in it
--   hit_rate: token-weighted, of the requests that report; NULL = none does
--   tps_miss: computed tokens per busy second
with newest as (
  select max(hour_utc) + to_hours(1) as end_utc
  from hourly_hit_rate
),

preferred as (
  select periods.deployment, min(periods.basis_rank) as basis_rank
  from busy_periods as periods
  cross join newest
  where periods.minute_utc >= newest.end_utc - to_days(cast($days as integer))
  group by periods.deployment
),

busiest as (
  select
    periods.deployment,
    periods.basis_rank,
    periods.minute_utc,
    sum(periods.busy_us) as busy_us
  from busy_periods as periods
  inner join preferred
    on periods.deployment = preferred.deployment and periods.basis_rank = preferred.basis_rank
  cross join newest
  where
    periods.deployment like $deployment
    and periods.minute_utc >= newest.end_utc - to_days(cast($days as integer))
  group by periods.deployment, periods.basis_rank, periods.minute_utc
  order by busy_us desc, periods.deployment asc, periods.minute_utc asc
  limit 8
)

select
  busiest.deployment,
  busiest.minute_utc,
  count(distinct periods.instance) as n_instances,
  busiest.busy_us / 1e6 as busy_s,
  sum(periods.n_requests) as n_requests,
  sum(periods.cached_tokens) / nullif(sum(periods.cached_tokens) + sum(periods.miss_tokens), 0) as hit_rate,
  sum(periods.miss_tokens) * 1e6 / nullif(busiest.busy_us, 0) as tps_miss
from busiest
inner join busy_periods as periods
  on
    busiest.deployment = periods.deployment
    and busiest.basis_rank = periods.basis_rank
    and busiest.minute_utc = periods.minute_utc
group by busiest.deployment, busiest.minute_utc, busiest.busy_us
order by busy_s desc, busiest.deployment asc, busiest.minute_utc asc
