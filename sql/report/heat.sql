-- name: report/heat
-- grain: hour × pooled bin
-- params: deployment VARCHAR, from_hour BIGINT (hour_index)
-- reads: mart.hit_rate_histogram
-- units: requests; tokens; bin bounds in thousandths
-- why: one deployment's hit rates by hour, in bins wide enough to be seen: 5 %, but 99 to 100 %, exactly 0 and exactly 1
--      on their own
with pooled as (
  select
    hour_index,
    case
      when bin_high_permille = 0 then 0
      when bin_low_permille >= 990 then least(bin_low_permille // 1000, 1) * 10 + 990
      else bin_low_permille // 50 * 50
    end as bin_low_permille,
    case
      when bin_high_permille = 0 then 0
      when bin_low_permille >= 990 then 1000
      else least(bin_low_permille // 50 * 50 + 50, 990)
    end as bin_high_permille,
    n_requests,
    input_tokens
  from mart.hit_rate_histogram
  where deployment = $deployment and hour_index >= $from_hour
)

select
  hour_index,
  bin_low_permille,
  bin_high_permille,
  sum(n_requests)::bigint as n_requests,
  sum(input_tokens)::bigint as input_tokens
from pooled
group by hour_index, bin_low_permille, bin_high_permille
order by hour_index, bin_low_permille, bin_high_permille
