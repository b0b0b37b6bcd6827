-- name: formats/claude_code
-- grain: one line; several lines carry one answer and count once, the one with most output
-- params: none
-- reads: lines
-- units: as logged
-- why: input_tokens excludes what the cache served and what was written to it; one answer is written once per part of its
--      content, and again by forked sessions, always with the id of its message
-- summary: Claude Code's session transcripts (what one person's client saw)
-- switch_on: nothing to do: ~/.claude/projects/*/*.jsonl; declare a deployment in the source; there is no latency in them
-- keys: type, timestamp, sessionId, message
-- ttft_basis: client
-- cached_basis: measured
-- input_tokens: exclusive
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.type', '$.timestamp', '$.sessionId', '$.message.id', '$.message.model', '$.message.usage',
        '$.message.usage.input_tokens', '$.message.usage.cache_read_input_tokens',
        '$.message.usage.cache_creation_input_tokens', '$.message.usage.output_tokens', '$.isApiErrorMessage'
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
    field[1] ->> '$' = 'assistant' and not is_absent(field[6]) and coalesce(field[5] ->> '$', '') <> '<synthetic>',
    false
  ) as is_request,
  null::varchar as kind,
  field[2] as arrived,
  field[4] as request_id,
  null::json as deployment,
  null::json as instance,
  field[5] as model,
  field[3] as session_id,
  case when not is_absent(field[7]) then token_sum(field[7], field[8], field[9]) end as input_tokens,
  field[8] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  field[9] as cache_write_tokens,
  field[10] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  null::json as e2e_ms,
  case when field[11] ->> '$' = 'true' then to_json('error') end as status
from fields
