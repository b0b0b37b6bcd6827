-- name: mart/hourly_hit_rate
-- grain: deployment × hour
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us); whole hours)
-- reads: requests
-- units: tokens; request hit rates in parts per billion (ppb); hour_index = whole hours since 1970-01-01T00Z
-- why: integers only, so that any engine at any thread count gives the same rows; quantiles are nearest-rank. Sums over
--      requests that report are NULL where none does: unknown, not 0
with served as (
  select
    deployment,
    arrived_us // 3600000000 as hour_index,
    input_tokens,
    cached_tokens,
    output_tokens,
    case when outcome = 'ok' then 1 else 0 end as is_ok,
    case when outcome in ('failed', 'aborted') then 1 else 0 end as is_failed,
    case when outcome = 'ok' and cached_tokens is not null then 1 else 0 end as is_reported,
    case
      when outcome = 'ok' and cached_tokens is not null and input_tokens > 0
        then 1000000000 * cached_tokens // input_tokens
    end as request_hit_ppb
  from requests
  where arrived_us >= $from_us and arrived_us < $to_us
),

ranked as (
  select
    deployment,
    hour_index,
    input_tokens,
    cached_tokens,
    output_tokens,
    is_ok,
    is_failed,
    is_reported,
    request_hit_ppb,
    row_number() over (
      partition by deployment, hour_index order by request_hit_ppb asc nulls last, input_tokens asc nulls last
    ) as hit_rank,
    count(request_hit_ppb) over (partition by deployment, hour_index) as n_rated
  from served
)

select
  deployment,
  hour_index,
  sum(is_ok)::bigint as n_requests,
  sum(is_failed)::bigint as n_failed,
  (count(*) - sum(is_ok) - sum(is_failed))::bigint as n_left_out,
  sum(is_reported)::bigint as n_reported,
  max(n_rated)::bigint as n_rated,
  coalesce(sum(input_tokens) filter (where is_ok = 1), 0)::bigint as input_tokens,
  (sum(input_tokens) filter (where is_reported = 1))::bigint as reported_input_tokens,
  (sum(cached_tokens) filter (where is_reported = 1))::bigint as cached_tokens,
  (sum(input_tokens - cached_tokens) filter (where is_reported = 1))::bigint as miss_tokens,
  (sum(output_tokens) filter (where is_ok = 1))::bigint as output_tokens,
  sum(request_hit_ppb)::bigint as sum_request_hit_ppb,
  max(request_hit_ppb) filter (where hit_rank = (10 * n_rated + 99) // 100)::bigint as p10_request_hit_ppb,
  max(request_hit_ppb) filter (where hit_rank = (50 * n_rated + 99) // 100)::bigint as p50_request_hit_ppb,
  max(request_hit_ppb) filter (where hit_rank = (90 * n_rated + 99) // 100)::bigint as p90_request_hit_ppb,
  count(*) filter (where request_hit_ppb is not null and cached_tokens = 0)::bigint as n_zero,
  count(*) filter (where request_hit_ppb is not null and 100 * cached_tokens > 99 * input_tokens)::bigint as n_over_99,
  (
    sum((input_tokens - cached_tokens)::decimal(38, 0) * cached_tokens) filter (where is_reported = 1)
  )::decimal(38, 0) as sum_miss_cached,
  (
    sum((input_tokens - cached_tokens)::decimal(38, 0) * (input_tokens - cached_tokens))
      filter (where is_reported = 1)
  )::decimal(38, 0) as sum_miss_sq,
  (sum(cached_tokens::decimal(38, 0) * cached_tokens) filter (where is_reported = 1))::decimal(38, 0) as sum_cached_sq,
  (sum(input_tokens::decimal(38, 0) * input_tokens) filter (where is_reported = 1))::decimal(38, 0) as sum_input_sq
from ranked
group by deployment, hour_index
