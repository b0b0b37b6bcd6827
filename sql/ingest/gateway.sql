-- name: ingest/gateway
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: maps OpenAI-style names; prompt_tokens includes the cached ones, prompt_ms is the engine's prefill time
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
  field[1] as arrived,
  field[2] as request_id,
  field[3] as deployment,
  field[4] as instance,
  field[5] as model,
  field[6] as session_id,
  field[7] as input_tokens,
  field[8] as cached_tokens,
  field[9] as cache_write_tokens,
  field[10] as output_tokens,
  field[11] as queue_ms,
  field[12] as prefill_ms,
  field[13] as ttft_ms,
  field[14] as e2e_ms,
  field[15] as status
from fields
