-- name: mart/busy_periods
-- grain: deployment × instance × basis × busy period × minute of the first token
-- params: context_from_us BIGINT (arrivals read, a day before the first minute), from_us BIGINT, to_us BIGINT
--         (first tokens in [from_us, to_us); whole minutes)
-- reads: requests
-- units: microseconds; tokens; attention2 = Σ(2·M·P + M²) in tokens²; steps_C = Σ greatest(1, ceil(M/C)) in steps
-- why: the sum of busy_us over any stretch is the union of the waiting-or-prefilling intervals, whatever the queueing.
--      Requests that report no cached tokens keep the instance busy too: they are counted, and the fit leaves their
--      minutes out. period_id is the instant the period began, so it does not depend on which days are read. What was
--      timed or counted at different places is never pooled: of several, the smallest basis_rank is used, measured hits
--      before predicted before simulated ones, times of the engine before a gateway's before a client's.
--      The steps of C tokens that each request takes alone are summed here, since ceil does not add; the C are those of
--      models/chunks.py, and a whole hit takes a step too: it still computes its last block.
--      greatest() passes over NULL, hence the case. The earliest start from a request on is asked for backwards: Spark
--      computes a frame that ends with the last row anew for each row, whose number is squared by that
with served as (
  select
    deployment,
    instance,
    ttft_basis,
    -- That absent counts are 0 is declared of a log whose other counts are measured: one place, one basis.
    case when cached_basis = 'declared' then 'measured' else cached_basis end as cached_basis,
    request_id,
    arrived_us + ttft_us as first_token_us,
    case when prefill_us is null then arrived_us else arrived_us + ttft_us - prefill_us end as start_us,
    input_tokens,
    cached_tokens,
    output_tokens
  from requests
  where
    arrived_us >= $context_from_us
    and arrived_us < $to_us
    and outcome = 'ok'
    and ttft_us is not null
    and instance is not null
),

ordered as (
  select
    deployment,
    instance,
    ttft_basis,
    cached_basis,
    request_id,
    first_token_us,
    start_us,
    input_tokens,
    cached_tokens,
    output_tokens,
    lag(first_token_us) over (
      partition by deployment, instance, ttft_basis, cached_basis
      order by first_token_us asc, start_us asc, request_id asc
    ) as previous_first_token_us,
    min(start_us) over (
      partition by deployment, instance, ttft_basis, cached_basis
      order by first_token_us desc, start_us desc, request_id desc
      rows between unbounded preceding and current row
    ) as earliest_start_us
  from served
),

attributed as (
  select
    deployment,
    instance,
    ttft_basis,
    cached_basis,
    request_id,
    first_token_us,
    start_us,
    input_tokens,
    cached_tokens,
    output_tokens,
    case
      when previous_first_token_us is null or earliest_start_us > previous_first_token_us then earliest_start_us
    end as period_start_us,
    first_token_us - case
      when previous_first_token_us is null or earliest_start_us > previous_first_token_us then earliest_start_us
      else previous_first_token_us
    end as busy_us
  from ordered
),

numbered as (
  select
    deployment,
    instance,
    ttft_basis,
    cached_basis,
    first_token_us,
    input_tokens,
    cached_tokens,
    output_tokens,
    period_start_us,
    busy_us,
    max(period_start_us) over (
      partition by deployment, instance, ttft_basis, cached_basis
      order by first_token_us asc, start_us asc, request_id asc
      rows between unbounded preceding and current row
    ) as period_id
  from attributed
)

select
  deployment,
  instance,
  ttft_basis,
  cached_basis,
  case cached_basis when 'measured' then 0 when 'predicted' then 10 else 20 end
  + case ttft_basis when 'engine' then 0 when 'gateway' then 1 when 'client' then 2 else 3 end as basis_rank,
  period_id,
  first_token_us // 60000000 as minute_index,
  count(period_start_us)::bigint as begins_period,
  sum(busy_us)::bigint as busy_us,
  count(*)::bigint as n_requests,
  (count(*) - count(cached_tokens))::bigint as n_unreported,
  sum(input_tokens)::bigint as input_tokens,
  coalesce(sum(cached_tokens), 0)::bigint as cached_tokens,
  coalesce(sum(input_tokens - cached_tokens), 0)::bigint as miss_tokens,
  coalesce(sum(output_tokens), 0)::bigint as output_tokens,
  coalesce(sum(
    2 * (input_tokens - cached_tokens)::decimal(38, 0) * cached_tokens
    + (input_tokens - cached_tokens)::decimal(38, 0) * (input_tokens - cached_tokens)
  ), 0)::decimal(38, 0) as attention2,
  coalesce(sum(
    case when cached_tokens is not null then greatest(1, (input_tokens - cached_tokens + 1023) // 1024) end
  ), 0)::bigint as steps_1024,
  coalesce(sum(
    case when cached_tokens is not null then greatest(1, (input_tokens - cached_tokens + 2047) // 2048) end
  ), 0)::bigint as steps_2048,
  coalesce(sum(
    case when cached_tokens is not null then greatest(1, (input_tokens - cached_tokens + 4095) // 4096) end
  ), 0)::bigint as steps_4096,
  coalesce(sum(
    case when cached_tokens is not null then greatest(1, (input_tokens - cached_tokens + 8191) // 8192) end
  ), 0)::bigint as steps_8192,
  coalesce(sum(
    case when cached_tokens is not null then greatest(1, (input_tokens - cached_tokens + 16383) // 16384) end
  ), 0)::bigint as steps_16384,
  coalesce(sum(
    case when cached_tokens is not null then greatest(1, (input_tokens - cached_tokens + 32767) // 32768) end
  ), 0)::bigint as steps_32768
from numbered
where first_token_us >= $from_us and first_token_us < $to_us
group by deployment, instance, ttft_basis, cached_basis, period_id, first_token_us // 60000000
