-- name: share/traffic
-- grain: deployment × hour × bin
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us); whole hours)
-- reads: requests
-- units: tokens; bin bounds in thousandths of request_hit_rate; n_output_reported counts requests
-- why: the requests that have a hit rate, in the bins of mart/hit_rate_histogram, with the number of individuals. An
--      individual is a session, or a request that names none. In an hour it counts in its lowest bin alone: added up over any
--      bins this is at most the number of individuals in them
with rated as (
  select
    deployment,
    arrived_us // 3600000000 as hour_index,
    coalesce('s' || session_id, 'r' || request_id) as individual,
    input_tokens,
    cached_tokens,
    output_tokens,
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
),

by_individual as (
  select
    deployment,
    hour_index,
    individual,
    bin_low_permille,
    bin_high_permille,
    count(*) as n_requests,
    sum(input_tokens) as input_tokens,
    sum(cached_tokens) as cached_tokens,
    sum(output_tokens) as output_tokens,
    count(output_tokens) as n_output_reported,
    row_number() over (
      partition by deployment, hour_index, individual order by bin_low_permille asc, bin_high_permille asc
    ) as nth_bin
  from rated
  group by deployment, hour_index, individual, bin_low_permille, bin_high_permille
)

select
  deployment,
  hour_index,
  bin_low_permille,
  bin_high_permille,
  sum(n_requests)::bigint as n_requests,
  count(*) filter (where nth_bin = 1)::bigint as n_individuals,
  sum(input_tokens)::bigint as input_tokens,
  sum(cached_tokens)::bigint as cached_tokens,
  sum(output_tokens)::bigint as output_tokens,
  sum(n_output_reported)::bigint as n_output_reported
from by_individual
group by deployment, hour_index, bin_low_permille, bin_high_permille
order by deployment, hour_index, bin_low_permille, bin_high_permille
