-- name: ingest/whole_lake
-- grain: request
-- params: none
-- reads: lake
-- units: tokens; microseconds
-- why: files of the lake as one, sorted so that a deployment and an hour stand together
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
from lake
order by deployment, arrived_us, request_id
