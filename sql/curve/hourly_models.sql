-- name: curve/hourly_models
-- grain: hour × model that has more than a tenth of the hour's tokens
-- params: deployment VARCHAR, from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us))
-- reads: requests
-- units: tokens; hours since the epoch
-- why: which models a deployment served in each hour, where its log names them
with served as (
  select arrived_us // 3600000000 as hour_index, model, sum(input_tokens)::bigint as input_tokens
  from requests
  where
    deployment = $deployment
    and arrived_us >= $from_us
    and arrived_us < $to_us
    and outcome = 'ok'
    and model is not null
    and input_tokens > 0
  group by arrived_us // 3600000000, model
),

hours as (
  select hour_index, sum(input_tokens)::bigint as hour_tokens
  from served
  group by hour_index
)

select served.hour_index, served.model, served.input_tokens
from served
inner join hours on served.hour_index = hours.hour_index
where 10 * served.input_tokens > hours.hour_tokens
order by served.hour_index, served.input_tokens desc, served.model
