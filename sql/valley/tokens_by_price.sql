-- name: valley/tokens_by_price
-- grain: deployment × hour × part of its price list
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us))
-- reads: requests, price_segments
-- units: tokens
-- why: what was sold at which price where a price changes within an hour or with the length of the request: looked up at
--      the arrival and length of each request that the hourly mart counts; part is NULL for what no segment prices
select
  requests.deployment,
  requests.arrived_us // 3600000000 as hour_index,
  segments.part,
  sum(requests.input_tokens - requests.cached_tokens)::bigint as miss_tokens,
  sum(requests.cached_tokens)::bigint as cached_tokens
from requests
left join price_segments as segments
  on
    requests.deployment = segments.deployment
    and requests.arrived_us // 3600000000 = segments.hour_index
    and requests.arrived_us >= segments.from_us
    and requests.arrived_us < segments.to_us
    and requests.input_tokens >= segments.input_tokens_from
    and (segments.input_tokens_to is null or requests.input_tokens < segments.input_tokens_to)
where
  requests.arrived_us >= $from_us
  and requests.arrived_us < $to_us
  and requests.outcome = 'ok'
  and requests.cached_tokens is not null
  and requests.deployment in (select deployment from price_segments)
group by requests.deployment, requests.arrived_us // 3600000000, segments.part
order by requests.deployment, hour_index, segments.part
