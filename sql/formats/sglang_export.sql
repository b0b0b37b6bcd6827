-- name: formats/sglang_export
-- grain: one line
-- params: none
-- reads: lines
-- units: seconds; epoch seconds
-- why: SGLang's own record of a finished request; prompt_tokens includes the cached ones. An aborted request may show
--      a prompt of one token: its finish reason becomes the status, which keeps it out of rates. Of
--      request_parameters, a JSON text that may hold the prompt, two keys are read and nothing is kept
-- summary: SGLang metrics export, one JSON object a line (SGLang 0.5.6 and later)
-- switch_on: start SGLang with --enable-metrics --export-metrics-to-file --export-metrics-to-file-dir DIR, and with
--      --log-requests --log-requests-level 0 so that no prompts are written; without --enable-metrics no record has a
--      time stamp and all are refused (missing_timestamp). It names no deployment: give one with the source
-- keys: request_parameters, prompt_tokens, e2e_latency
-- epoch_unit: s
-- ttft_basis: engine
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.request_received_ts', '$.id', '$.dp_rank', '$.prompt_tokens', '$.cached_tokens',
        '$.cached_tokens_details.device', '$.cached_tokens_details.host', '$.cached_tokens_details.storage',
        '$.completion_tokens', '$.queue_time', '$.forward_entry_time', '$.prefill_finished_time',
        '$.prefill_finished_ts', '$.first_token_latency', '$.e2e_latency', '$.finish_reason', '$.finish_reason.type',
        '$.request_parameters'
      ])
    end as field
  from lines
),

sent as (
  select
    *,
    case when json_valid(field[18] ->> '$') then json_extract(field[18] ->> '$', '$.stream') end as streamed,
    case when json_valid(field[18] ->> '$') then json_extract(field[18] ->> '$', '$.session_params.id') end as session_id
  from fields
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
  null::json as deployment,
  field[3] as instance,
  null::json as model,
  session_id,
  field[4] as input_tokens,
  field[5] as cached_tokens,
  field[6] as cached_device_tokens,
  field[7] as cached_host_tokens,
  field[8] as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[9] as output_tokens,
  ms_from_s(field[10]) as queue_ms,
  ms_between_s(field[11], field[12]) as prefill_ms,
  sglang_ttft_ms(field[1], field[14], first_of(field[12], field[13], null), streamed) as ttft_ms,
  ms_from_s(field[15]) as e2e_ms,
  first_of(field[17], field[16], null) as status
from sent
