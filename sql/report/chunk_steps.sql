-- name: report/chunk_steps
-- grain: deployment
-- params: deployment VARCHAR, from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us)), chunk_tokens BIGINT
-- reads: requests
-- units: tokens; steps
-- why: how full the chunks of an engine that does not pack are: miss_tokens / (chunk_tokens * steps). A whole hit still takes
--      a step; NULL without requests
select
  sum(input_tokens - cached_tokens)::bigint as miss_tokens,
  sum(greatest(1, (input_tokens - cached_tokens + $chunk_tokens - 1) // $chunk_tokens))::bigint as steps
from requests
where
  deployment = $deployment
  and arrived_us >= $from_us
  and arrived_us < $to_us
  and outcome = 'ok'
  and cached_tokens is not null
