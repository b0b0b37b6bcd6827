-- name: curve/sweep_rows
-- grain: request
-- params: none
-- reads: requests
-- units: tokens; microseconds
-- why: the successful requests of a controlled benchmark
select
  cached_tokens / input_tokens as hit_rate,
  input_tokens::double as input_tokens,
  prefill_us,
  ttft_us
from requests
where outcome = 'ok' and input_tokens > 0 and cached_tokens is not null and (prefill_us is not null or ttft_us is not null)
order by arrived_us, request_id
