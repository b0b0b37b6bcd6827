-- name: formats/sglang_request_log
-- grain: one line
-- params: none
-- reads: lines
-- units: seconds; epoch seconds
-- why: the same fields as the metrics export, in a log that other messages share; only request.finished is a request.
--      Without request_received_ts the line's own time stamp serves: when it was written, at the request's end, and
--      without an offset unless a container runtime put one in front. Such rows fit hours, not curves
-- summary: SGLang request log, JSON behind a time stamp (SGLang 0.5.9 and later)
-- switch_on: start SGLang with --enable-metrics --log-requests --log-requests-level 0 --log-requests-format json; without
--      --enable-metrics the only time stamp is a local one without offset, taken with timezone = "UTC" where the server's
--      clock is UTC. It names no deployment: give one with the source
-- pattern: ^[^{]*\] \{"timestamp".*"event": ?"request\.
-- epoch_unit: s
-- ttft_basis: engine
-- cached_basis: measured
with payloads as (
  select
    line_number,
    byte_offset,
    line,
    nullif(regexp_extract(log_text(line), '^\[[^\]]*\] (\{"timestamp".*)$', 1), '') as payload
  from lines
),

fields as (
  select
    *,
    case
      when json_valid(payload) then json_extract(payload, [
        '$.out.meta_info.request_received_ts', '$.timestamp', '$.event', '$.rid', '$.out.meta_info.id',
        '$.out.meta_info.dp_rank', '$.obj.session_params.id',
        '$.out.meta_info.prompt_tokens', '$.out.meta_info.cached_tokens',
        '$.out.meta_info.cached_tokens_details.device', '$.out.meta_info.cached_tokens_details.host',
        '$.out.meta_info.cached_tokens_details.storage', '$.out.meta_info.completion_tokens',
        '$.out.meta_info.queue_time', '$.out.meta_info.forward_entry_time', '$.out.meta_info.prefill_finished_time',
        '$.out.meta_info.first_token_latency', '$.obj.stream', '$.out.meta_info.e2e_latency',
        '$.out.meta_info.finish_reason', '$.out.meta_info.finish_reason.type'
      ])
    end as field
  from payloads
)

select
  line_number,
  byte_offset,
  line,
  case when payload is not null then json_line_fault(payload) end as line_fault,
  coalesce(field[3] ->> '$' = 'request.finished', false) as is_request,
  case when starts_with(field[4] ->> '$', 'HEALTH_CHECK') then 'health_check' end as kind,
  first_of(field[1], log_time(line), field[2]) as arrived,
  first_of(field[5], field[4], null) as request_id,
  null::json as deployment,
  field[6] as instance,
  null::json as model,
  field[7] as session_id,
  field[8] as input_tokens,
  field[9] as cached_tokens,
  field[10] as cached_device_tokens,
  field[11] as cached_host_tokens,
  field[12] as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[13] as output_tokens,
  ms_from_s(field[14]) as queue_ms,
  ms_between_s(field[15], field[16]) as prefill_ms,
  sglang_ttft_ms(field[1], field[17], field[16], field[18]) as ttft_ms,
  ms_from_s(field[19]) as e2e_ms,
  first_of(field[21], field[20], null) as status
from fields
