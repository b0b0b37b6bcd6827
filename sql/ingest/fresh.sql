-- name: ingest/fresh
-- grain: request of the staged file
-- params: none
-- reads: staged
-- units: tokens; microseconds
-- why: of several lines with one identity the one that precedes counts (ingest/macros/1_precedence)
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
qualify row_number() over (
  partition by deployment, request_id
  order by
    precedence(
        outcome, output_tokens, arrived_us, input_tokens, cached_tokens, cache_write_tokens,
        queue_us, prefill_us, ttft_us, e2e_us, instance, model, session_id
    ) asc,
    source_line asc
) = 1
