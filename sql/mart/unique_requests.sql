-- name: mart/unique_requests
-- grain: request
-- params: none
-- reads: lake
-- units: tokens; microseconds
-- why: a request counts once, whatever copies carry it. Of competing records the one that precedes counts, by the order of
--      ingest/macros/1_precedence, spelt out: Spark knows neither the macro nor rows as a sort key. Records that are the
--      same to it are told apart by where they stand, so that every engine keeps the same one. The ingest has done so
--      already to a lake of its own; one that something else wrote or appended to may hold copies
with numbered as (
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
    source_sha256,
    row_number() over (
      partition by deployment, request_id
      order by
        case outcome when 'ok' then 0 when 'aborted' then 1 else 2 end asc nulls last,
        coalesce(output_tokens, -1) desc nulls last,
        arrived_us asc nulls last,
        coalesce(input_tokens, -1) asc nulls last,
        coalesce(cached_tokens, -1) asc nulls last,
        coalesce(cache_write_tokens, -1) asc nulls last,
        coalesce(queue_us, -1) asc nulls last,
        coalesce(prefill_us, -1) asc nulls last,
        coalesce(ttft_us, -1) asc nulls last,
        coalesce(e2e_us, -1) asc nulls last,
        coalesce(instance, '') asc nulls last,
        coalesce(model, '') asc nulls last,
        coalesce(session_id, '') asc nulls last,
        coalesce(status, '') asc nulls last,
        source_line asc nulls last,
        source_sha256 asc nulls last,
        source_file asc nulls last,
        source_name asc nulls last
    ) as place
  from lake
)

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
from numbered
where place = 1
