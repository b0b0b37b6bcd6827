-- name: mart/hit_rate_histogram
-- grain: deployment × hour × bin
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us); whole hours)
-- reads: requests
-- units: tokens; bin bounds in thousandths of request_hit_rate
-- why: bins by integer division, since a floor in doubles puts requests at a bin's edge into the wrong bin
with rated as (
  select
    deployment,
    arrived_us // 3600000000 as hour_index,
    input_tokens,
    cached_tokens,
    case
      when cached_tokens = 0 then 0
      when cached_tokens = input_tokens then 1000
      when 100 * cached_tokens // input_tokens < 99 then 10 * (100 * cached_tokens // input_tokens)
      else 1000 * cached_tokens // input_tokens
    end as bin_low_permille,
    case
      when cached_tokens = 0 then 0
      when cached_tokens = input_tokens then 1000
      when 100 * cached_tokens // input_tokens < 99 then 10 * (100 * cached_tokens // input_tokens) + 10
      else 1000 * cached_tokens // input_tokens + 1
    end as bin_high_permille
  from requests
  where
    arrived_us >= $from_us
    and arrived_us < $to_us
    and outcome = 'ok'
    and cached_tokens is not null
    and input_tokens > 0
)

select
  deployment,
  hour_index,
  bin_low_permille,
  bin_high_permille,
  count(*)::bigint as n_requests,
  sum(input_tokens)::bigint as input_tokens,
  sum(cached_tokens)::bigint as cached_tokens
from rated
group by deployment, hour_index, bin_low_permille, bin_high_permille
