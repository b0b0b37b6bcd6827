-- name: formats/codex
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: last_token_usage is one answer's, total_token_usage beside it grows over the session; input_tokens includes the
--      cached ones; output_tokens includes reasoning
-- summary: Codex CLI's session transcripts (what one person's client saw)
-- switch_on: nothing to do: ~/.codex/sessions/**/rollout-*.jsonl; declare a deployment in the source; there is no latency
--      in them
-- keys: timestamp, type, payload
-- ttft_basis: client
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.type', '$.payload.type', '$.timestamp', '$.payload.info.last_token_usage',
        '$.payload.info.last_token_usage.input_tokens', '$.payload.info.last_token_usage.cached_input_tokens',
        '$.payload.info.last_token_usage.output_tokens'
      ])
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  json_line_fault(line) is not null or coalesce(
    field[1] ->> '$' = 'event_msg' and field[2] ->> '$' = 'token_count' and not is_absent(field[4]), false
  ) as is_request,
  null::varchar as kind,
  field[3] as arrived,
  null::json as request_id,
  null::json as deployment,
  null::json as instance,
  null::json as model,
  null::json as session_id,
  field[5] as input_tokens,
  field[6] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[7] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  null::json as e2e_ms,
  null::json as status
from fields
