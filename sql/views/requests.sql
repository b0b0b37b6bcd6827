-- name: views/requests
-- grain: request
-- params: none
-- reads: lake
-- units: tokens; _us microseconds, _s seconds
-- about: every accepted request, once
-- why: every accepted request once
select
  request_id,
  arrived_us,
  make_timestamp(arrived_us) as arrived_at,
  make_timestamp(arrived_us // 3600000000 * 3600000000) as hour_utc,
  deployment,
  instance,
  model,
  session_id,
  input_tokens,
  cached_tokens,
  input_tokens - cached_tokens as miss_tokens,
  cached_device_tokens,
  cached_host_tokens,
  cached_storage_tokens,
  cache_write_tokens,
  output_tokens,
  queue_us,
  prefill_us,
  ttft_us,
  e2e_us,
  queue_us / 1e6 as queue_s,
  prefill_us / 1e6 as prefill_s,
  ttft_us / 1e6 as ttft_s,
  e2e_us / 1e6 as e2e_s,
  cached_tokens / nullif(input_tokens, 0) as request_hit_rate,
  ttft_basis,
  cached_basis,
  status,
  outcome,
  source_name,
  source_file,
  source_line,
  source_sha256
from lake
