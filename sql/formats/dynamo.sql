-- name: formats/dynamo
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds; epoch milliseconds
-- why: only request_end is a request. The envelope's timestamp counts from the writer's start and kv_hit_rate is the
--      router's prediction: neither is used. Records without a session say how long the prompt was only where they
--      describe it for replay, and never what was cached
-- summary: NVIDIA Dynamo request trace, with its envelope or without
-- switch_on: start the Dynamo frontend with DYN_REQUEST_TRACE=1 and read its trace files; requests need an agent or
--      session context for their cached tokens to be in the trace. It names no deployment: give one with the source
-- pattern: "schema": ?"dynamo\.request\.trace
-- epoch_unit: ms
-- ttft_basis: gateway
-- cached_basis: measured
with records as (
  select
    line_number,
    byte_offset,
    line,
    case when json_valid(line) then coalesce(json_extract(line, '$.event'), json_extract(line, '$')) end as record
  from lines
),

fields as (
  select
    *,
    json_extract(record, [
      '$.event_type', '$.request.request_received_ms', '$.request.request_id', '$.request.worker.prefill_worker_id',
      '$.request.worker.prefill_dp_rank', '$.request.model', '$.agent_context.session_id', '$.agent_context.trajectory_id',
      '$.request.input_tokens', '$.request.replay.input_length', '$.request.cached_tokens', '$.request.output_tokens',
      '$.request.prefill_wait_time_ms', '$.request.prefill_time_ms', '$.request.ttft_ms', '$.request.total_time_ms'
    ]) as field
  from records
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  coalesce(field[1] ->> '$' = 'request_end', false) as is_request,
  null::varchar as kind,
  field[2] as arrived,
  field[3] as request_id,
  null::json as deployment,
  case
    when is_absent(field[4]) or is_absent(field[5]) or name_fault(field[4]) is not null then field[4]
    else to_json((field[4] ->> '$') || '.' || (field[5] ->> '$'))
  end as instance,
  field[6] as model,
  first_of(field[7], field[8], null) as session_id,
  first_of(field[9], field[10], null) as input_tokens,
  field[11] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[12] as output_tokens,
  field[13] as queue_ms,
  field[14] as prefill_ms,
  field[15] as ttft_ms,
  field[16] as e2e_ms,
  null::json as status
from fields
