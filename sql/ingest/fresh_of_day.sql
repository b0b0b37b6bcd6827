-- name: ingest/fresh_of_day
-- grain: request
-- params: day_index BIGINT
-- reads: staged
-- units: tokens; microseconds
-- why: in the order of the log, which is near enough that of time: sorting cost as much again and made files larger
select
  request_id,
  arrived_us,
  deployment,
  instance,
  model,
  session_id,
  input_tokens,
  cached_tokens,
  cached_device_tokens,
  cached_host_tokens,
  cached_storage_tokens,
  cache_write_tokens,
  output_tokens,
  queue_us,
  prefill_us,
  ttft_us,
  e2e_us,
  ttft_basis,
  cached_basis,
  status,
  outcome,
  source_name,
  source_file,
  source_line,
  source_sha256
from staged
where reason is null and arrived_us // 86400000000 = $day_index
