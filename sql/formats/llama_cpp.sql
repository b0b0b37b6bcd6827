-- name: formats/llama_cpp
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds
-- why: prompt_n leaves out the cached tokens, so both together are the prompt; older servers have no cache_n, and then the
--      prompt is what usage or tokens_evaluated says. tokens_cached is what the slot holds afterwards, and is not
--      used. A reply's own `created` is when it was finished; a capture's ts or timestamp is preferred
-- summary: replies of llama.cpp's server, captured one JSON object a line, with their timings
-- switch_on: have a client or proxy write the server's reply (of a stream, its last chunk) and beside it ts (ISO 8601
--      with offset, when the request was sent); id, model, deployment, instance, session_id, queue_ms, ttft_ms, e2e_ms and
--      status are read where they are
-- keys: timings
-- epoch_unit: s
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
        '$.timings', '$.error', '$.ts', '$.timestamp', '$.created', '$.request_id', '$.id', '$.deployment', '$.instance',
        '$.model', '$.session_id', '$.timings.cache_n', '$.timings.prompt_n', '$.usage.prompt_tokens',
        '$.tokens_evaluated', '$.usage.prompt_tokens_details.cached_tokens', '$.timings.predicted_n',
        '$.usage.completion_tokens', '$.queue_ms', '$.timings.prompt_ms', '$.ttft_ms', '$.e2e_ms', '$.status',
        '$.error.code'
      ])
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  not is_absent(field[1]) or not is_absent(field[2]) as is_request,
  null::varchar as kind,
  first_of(field[3], field[4], field[5]) as arrived,
  first_of(field[6], field[7], null) as request_id,
  field[8] as deployment,
  field[9] as instance,
  field[10] as model,
  field[11] as session_id,
  case
    when is_absent(field[12]) or is_absent(field[13]) then first_of(field[14], field[15], null)
    else token_sum(field[12], field[13], null)
  end as input_tokens,
  first_of(field[12], field[16], null) as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  first_of(field[17], field[18], null) as output_tokens,
  field[19] as queue_ms,
  field[20] as prefill_ms,
  field[21] as ttft_ms,
  field[22] as e2e_ms,
  first_of(field[23], field[24], null) as status
from fields
