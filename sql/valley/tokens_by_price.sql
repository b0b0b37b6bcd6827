-- name: valley/tokens_by_price
-- grain: deployment × hour × part of its price list × model × band of lengths × timeliness × whether hits are reported
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us)), named_models BIGINT
-- reads: requests, price_segments, objectives
-- units: tokens
-- why: what was sold at which price, to whom and in time or not: looked up at the arrival and length of each request
--      that the hourly mart counts; part is NULL for what no segment prices. A request known to miss one time of its
--      objective is late whatever the others; one whose time is asked for and not known is of unknown timeliness, never
--      in time. A single output token has no time per token. Bands of lengths are powers of four from 1,024 tokens on.
--      A log may name a model a request: beyond the named_models most used of a deployment they are one. The n_unknown
--      counts are of requests that lack that count; sums are of the others, NULL where there are none
with served as (
  select
    deployment,
    arrived_us,
    arrived_us // 3600000000 as hour_index,
    model,
    case
      when input_tokens < 1024 then 0
      when input_tokens < 4096 then 1024
      when input_tokens < 16384 then 4096
      when input_tokens < 65536 then 16384
      when input_tokens < 262144 then 65536
      else 262144
    end as input_tokens_from,
    input_tokens,
    cached_tokens,
    output_tokens,
    cache_write_tokens,
    ttft_us,
    e2e_us
  from requests
  where arrived_us >= $from_us and arrived_us < $to_us and outcome = 'ok'
),

ranked as (
  select
    deployment,
    model,
    row_number() over (partition by deployment order by count(*) desc, model asc) as model_rank
  from served
  where model is not null
  group by deployment, model
),

timed as (
  select
    served.deployment,
    served.hour_index,
    segments.part,
    case
      when ranked.model_rank <= $named_models then served.model
      when ranked.model_rank is not null then 'other models'
    end as model,
    served.input_tokens_from,
    case
      when objectives.deployment is null then null
      when
        served.ttft_us > objectives.ttft_us
        or served.e2e_us > objectives.e2e_us
        or (
          served.output_tokens > 1
          and served.e2e_us - served.ttft_us > objectives.tpot_us * (served.output_tokens - 1)
        )
        then 'late'
      when
        (objectives.ttft_us is not null and served.ttft_us is null)
        or (objectives.e2e_us is not null and served.e2e_us is null)
        or (
          objectives.tpot_us is not null
          and (
            served.output_tokens is null
            or served.output_tokens < 1
            or (served.output_tokens > 1 and (served.ttft_us is null or served.e2e_us is null))
          )
        )
        then 'unknown'
      else 'in_time'
    end as timeliness,
    served.cached_tokens is not null as is_reported,
    served.input_tokens,
    served.cached_tokens,
    served.output_tokens,
    served.cache_write_tokens
  from served
  left join ranked on served.deployment = ranked.deployment and served.model = ranked.model
  left join objectives on served.deployment = objectives.deployment
  left join price_segments as segments
    on
      served.deployment = segments.deployment
      and served.hour_index = segments.hour_index
      and served.arrived_us >= segments.from_us
      and served.arrived_us < segments.to_us
      and served.input_tokens >= segments.input_tokens_from
      and (segments.input_tokens_to is null or served.input_tokens < segments.input_tokens_to)
)

select
  deployment,
  hour_index,
  part,
  model,
  input_tokens_from,
  timeliness,
  is_reported,
  count(*)::bigint as n_requests,
  (count(*) filter (where not is_reported or output_tokens is null))::bigint as n_unknown,
  (
    count(*) filter (where not is_reported or output_tokens is null or cache_write_tokens is null)
  )::bigint as n_unknown_with_writes,
  (count(*) filter (where output_tokens is null))::bigint as n_unknown_output,
  (count(*) filter (where cache_write_tokens is null))::bigint as n_unknown_writes,
  sum(input_tokens)::bigint as input_tokens,
  sum(input_tokens - cached_tokens)::bigint as miss_tokens,
  sum(cached_tokens)::bigint as cached_tokens,
  sum(output_tokens)::bigint as output_tokens,
  sum(cache_write_tokens)::bigint as cache_write_tokens
from timed
group by deployment, hour_index, part, model, input_tokens_from, timeliness, is_reported
order by deployment, hour_index, part, model, input_tokens_from, timeliness, is_reported
