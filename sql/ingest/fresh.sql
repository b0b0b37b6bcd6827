-- name: ingest/fresh
-- grain: request of the staged file
-- params: none
-- reads: staged
-- units: tokens; microseconds
-- why: of several lines with one identity the earliest arrival counts, then the earliest line
create or replace temp table fresh as
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
where reason is null
qualify row_number() over (partition by deployment, request_id order by arrived_us asc, source_line asc) = 1
