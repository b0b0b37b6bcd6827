-- name: curve/lengths
-- grain: prompt length to three decimal digits
-- params: deployment VARCHAR, from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us))
-- reads: requests
-- units: tokens
-- why: how long the prompts of a window are: lengths that differ in the fourth digit and beyond, by 1 % at most, count as
--      the longest of them, so that some thousand rows hold any number of requests
with whole as (
  select
    input_tokens,
    -- 10 to the digits beyond three, by comparison: a logarithm may round to either side of a power.
    case
      when input_tokens < 1000 then 1
      when input_tokens < 10000 then 10
      when input_tokens < 100000 then 100
      when input_tokens < 1000000 then 1000
      when input_tokens < 10000000 then 10000
      else 100000
    end as grid
  from requests
  where
    deployment = $deployment
    and arrived_us >= $from_us
    and arrived_us < $to_us
    and outcome = 'ok'
    and input_tokens > 0
    and cached_tokens is not null
)

select
  max(input_tokens)::bigint as input_tokens,
  count(*)::bigint as n_requests
from whole
group by grid, input_tokens // grid
order by input_tokens
