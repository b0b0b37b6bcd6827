-- name: formats/canonical
-- grain: one line
-- params: none
-- reads: lines; the session's variable column_paths (JSON paths in the order of `columns`), NULL where none is declared
-- units: as logged
-- why: maps valleywatch's own field names, or those that the source declares instead; nothing is interpreted here
-- summary: valleywatch's own field names, one JSON object a line
-- switch_on: write one JSON object per finished request: timestamp (ISO 8601 with offset), request_id, deployment,
--      instance, model, session_id, input_tokens (cached ones included), cached_tokens, output_tokens,
--      cache_write_tokens, queue_ms, prefill_ms, ttft_ms, e2e_ms, status
-- keys: timestamp, input_tokens
-- columns: timestamp, request_id, deployment, instance, model, session_id, input_tokens, cached_tokens, cache_write_tokens,
--      output_tokens, queue_ms, prefill_ms, ttft_ms, e2e_ms, status
-- ttft_basis: declared
-- cached_basis: measured
-- left_open: input_tokens, latency_unit, ttft_basis, cached_basis
with fields as (
  select
    line_number,
    byte_offset,
    line,
    try(json_extract(line, coalesce(getvariable('column_paths')::varchar[], [
      '$.timestamp', '$.request_id', '$.deployment', '$.instance', '$.model', '$.session_id',
      '$.input_tokens', '$.cached_tokens', '$.cache_write_tokens', '$.output_tokens',
      '$.queue_ms', '$.prefill_ms', '$.ttft_ms', '$.e2e_ms', '$.status'
    ]))) as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  null::varchar as kind,
  field[1] as arrived,
  field[2] as request_id,
  field[3] as deployment,
  field[4] as instance,
  field[5] as model,
  field[6] as session_id,
  field[7] as input_tokens,
  field[8] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  field[9] as cache_write_tokens,
  field[10] as output_tokens,
  field[11] as queue_ms,
  field[12] as prefill_ms,
  field[13] as ttft_ms,
  field[14] as e2e_ms,
  field[15] as status
from fields
