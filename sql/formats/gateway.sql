-- name: formats/gateway
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: maps OpenAI-style names; prompt_tokens includes the cached ones, prompt_ms is the engine's prefill time
-- summary: access log of a gateway or benchmark client in front of an engine, one JSON object a line
-- switch_on: have the gateway log per request: ts (ISO 8601 with offset, when it was sent), request_id, deployment,
--      instance, session, prompt_tokens (cached ones included), cached_tokens, completion_tokens, ttft_ms, e2e_ms,
--      prompt_ms (the engine's prefill time), queue_ms and the HTTP status; llama.cpp's server reports cached_tokens as
--      timings.cache_n and prompt_ms as timings.prompt_ms
-- keys: ts, prompt_tokens
-- ttft_basis: client
-- cached_basis: measured
-- left_open: input_tokens, latency_unit, ttft_basis, cached_basis
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.ts', '$.request_id', '$.deployment', '$.instance', '$.model', '$.session',
        '$.prompt_tokens', '$.cached_tokens', '$.cache_write_tokens', '$.completion_tokens',
        '$.queue_ms', '$.prompt_ms', '$.ttft_ms', '$.e2e_ms', '$.status'
      ])
    end as field
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
