-- name: formats/vllm
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: what pipelines/plugins/vllm_logger.py writes: canonical names, with the time to first token measured by the engine
-- summary: vLLM, one JSON object per finished request, written by the plugin that valleywatch ships
-- switch_on: install valleywatch in vLLM's environment (or copy pipelines/plugins/vllm_logger.py there and declare it in the
--      entry-point group vllm.stat_logger_plugins) and set VALLEYWATCH_VLLM_LOG to a file, and VALLEYWATCH_DEPLOYMENT to the
--      deployment's name. Requests whose clients went away are not in vLLM's statistics
-- keys: timestamp, instance, input_tokens, finish_reason, num_preemptions
-- ttft_basis: engine
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.timestamp', '$.request_id', '$.deployment', '$.instance', '$.model', '$.input_tokens', '$.cached_tokens',
        '$.output_tokens', '$.queue_ms', '$.prefill_ms', '$.ttft_ms', '$.e2e_ms', '$.status'
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
  null::json as session_id,
  field[6] as input_tokens,
  field[7] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[8] as output_tokens,
  field[9] as queue_ms,
  field[10] as prefill_ms,
  field[11] as ttft_ms,
  field[12] as e2e_ms,
  field[13] as status
from fields
