-- name: formats/aiperf
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged: every value names its unit
-- why: the server's own count of prompt tokens is better than the client's tokenizer; older versions have other names for
--      the time to first token, the start and the phase
-- summary: NVIDIA AIPerf's profile_export.jsonl, one JSON object per request
-- switch_on: run aiperf profile with --export-level records; add --use-server-token-count where the server reports usage,
--      without it there are no cached tokens; declare the deployment in the source
-- keys: metadata, metrics, error
-- epoch_unit: ns
-- ttft_basis: client
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.metadata.request_start_ns', '$.metadata.timestamp_ns', '$.metadata.x_request_id',
        '$.metadata.conversation_id', '$.metadata.was_cancelled', '$.error', '$.error.code',
        '$.metadata.benchmark_phase', '$.metadata.credit_phase'
      ])
    end as field,
    case
      when json_valid(line) then json_extract(line, [
        '$.metrics.usage_prompt_tokens', '$.metrics.input_sequence_length',
        '$.metrics.usage_prompt_cache_read_tokens', '$.metrics.usage_prompt_cache_write_tokens',
        '$.metrics.usage_completion_tokens', '$.metrics.output_sequence_length'
      ])
    end as count_field,
    case
      when json_valid(line) then json_extract(line, [
        '$.metrics.time_to_first_token', '$.metrics.ttft', '$.metrics.request_latency'
      ])
    end as time_field
  from lines
),

quantities as (
  select
    line_number,
    byte_offset,
    line,
    field,
    first_of(count_field[1], count_field[2], null::json) as input_quantity,
    count_field[3] as cached_quantity,
    count_field[4] as cache_write_quantity,
    first_of(count_field[5], count_field[6], null::json) as output_quantity,
    first_of(time_field[1], time_field[2], null::json) as ttft_quantity,
    time_field[3] as e2e_quantity
  from fields
)

select
  line_number,
  byte_offset,
  line,
  coalesce(
    json_line_fault(line),
    case
      when
        coalesce(input_quantity ->> '$.unit', 'tokens') <> 'tokens'
        or coalesce(cached_quantity ->> '$.unit', 'tokens') <> 'tokens'
        or coalesce(cache_write_quantity ->> '$.unit', 'tokens') <> 'tokens'
        or coalesce(output_quantity ->> '$.unit', 'tokens') <> 'tokens'
        or coalesce(ttft_quantity ->> '$.unit', 'none') not in ('ns', 'us', 'ms', 's', 'sec')
        and not is_absent(ttft_quantity)
        or coalesce(e2e_quantity ->> '$.unit', 'none') not in ('ns', 'us', 'ms', 's', 'sec')
        and not is_absent(e2e_quantity)
        then 'unit_not_understood'
    end
  ) as line_fault,
  true as is_request,
  case when 'warmup' in (field[8] ->> '$', field[9] ->> '$') then 'warmup' end as kind,
  first_of(field[1], field[2], null::json) as arrived,
  field[3] as request_id,
  null::json as deployment,
  null::json as instance,
  null::json as model,
  field[4] as session_id,
  json_extract(input_quantity, '$.value') as input_tokens,
  json_extract(cached_quantity, '$.value') as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  json_extract(cache_write_quantity, '$.value') as cache_write_tokens,
  json_extract(output_quantity, '$.value') as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  ms_of_quantity(json_extract(ttft_quantity, '$.value'), json_extract(ttft_quantity, '$.unit')) as ttft_ms,
  ms_of_quantity(json_extract(e2e_quantity, '$.value'), json_extract(e2e_quantity, '$.unit')) as e2e_ms,
  case
    when field[5] ->> '$' = 'true' then to_json('cancelled')
    when not is_absent(field[7]) then field[7]
    when not is_absent(field[6]) then to_json('error')
  end as status
from quantities
