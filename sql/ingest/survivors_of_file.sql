-- name: ingest/survivors_of_file
-- grain: request
-- params: file VARCHAR
-- reads: lake, clashes
-- units: tokens; microseconds
-- why: a file of the lake without the records that lost their place
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
where
  ends_with(lake.filename, '/' || $file)
  and not exists (
    select 1 from clashes
    where
      clashes.is_superseded
      and clashes.deployment = lake.deployment
      and clashes.request_id = lake.request_id
  )
order by deployment, arrived_us, request_id
