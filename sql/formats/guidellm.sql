-- name: formats/guidellm
-- grain: one record: a request of any of the report's benchmarks
-- params: none
-- reads: lines
-- units: as logged: starts in epoch seconds, the whole request in seconds, the first token in milliseconds
-- why: one report holds several benchmarks, each with its answered, failed and unfinished requests
-- summary: GuideLLM's benchmarks.json
-- switch_on: run guidellm benchmark with a JSON output that keeps every request (no sampling of requests); cached tokens
--      are there from the version that writes cached_tokens on; declare the deployment in the source
-- keys: benchmarks
-- reader: documents benchmarks.*.requests.*.*
-- epoch_unit: s
-- ttft_basis: client
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.info.timings.request_start', '$.info.timings.resolve_start', '$.request_start_time',
        '$.request_id', '$.info.conversation_id', '$.prompt_tokens', '$.cached_tokens', '$.output_tokens',
        '$.time_to_first_token_ms', '$.request_latency', '$.info.status'
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
  first_of(field[1], field[2], field[3]) as arrived,
  field[4] as request_id,
  null::json as deployment,
  null::json as instance,
  null::json as model,
  field[5] as session_id,
  field[6] as input_tokens,
  field[7] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[8] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  field[9] as ttft_ms,
  ms_from_s(field[10]) as e2e_ms,
  case
    when field[11] ->> '$' = 'errored' then to_json('error')
    when field[11] ->> '$' in ('queued', 'pending', 'in_progress', 'first_token') then to_json('cancelled')
    else field[11]
  end as status
from fields
