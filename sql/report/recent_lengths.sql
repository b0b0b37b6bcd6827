-- name: report/recent_lengths
-- grain: half power of two of input tokens
-- params: deployment VARCHAR
-- reads: requests, mart.hourly_hit_rate
-- units: tokens
-- why: how long the prompts of a deployment's last 24 hours of traffic are
select
  sum(input_tokens)::bigint as input_tokens,
  count(*) as n_requests
from requests
where
  deployment = $deployment
  and outcome = 'ok'
  and input_tokens > 0
  and cached_tokens is not null
  and arrived_us // 3600000000 > (
    select max(hour_index) - 24
    from mart.hourly_hit_rate
    where deployment = $deployment
  )
group by length(bin(input_tokens * input_tokens))
order by sum(input_tokens) / count(*)
