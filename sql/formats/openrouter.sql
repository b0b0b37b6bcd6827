-- name: formats/openrouter
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds
-- why: only the native counts are the provider's; tokens_prompt is counted by another tokenizer; latency is the time to first
--      token of a stream, generation_time what follows
-- summary: OpenRouter generations, one JSON object a line
-- switch_on: ask /api/v1/generation for every id and write each answer (or its data) on a line
-- pattern: "native_tokens_prompt"\s*:
-- ttft_basis: gateway
-- cached_basis: measured
with records as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_transform(coalesce(json_extract(line, '$.data'), line::json), '{
        "id": "JSON", "created_at": "JSON", "model": "JSON", "provider_name": "JSON", "session_id": "JSON",
        "native_tokens_prompt": "JSON", "native_tokens_cached": "JSON", "native_tokens_completion": "JSON",
        "streamed": "JSON", "cancelled": "JSON", "generation_time": "JSON", "finish_reason": "VARCHAR"
      }')
    end as record,
    case
      when json_valid(line) then nullif(coalesce(json_extract(line, '$.data.latency'), json_extract(line, '$.latency')), 'null')
    end as first_token_ms
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  null::varchar as kind,
  record.created_at as arrived,
  record.id as request_id,
  null::json as deployment,
  record.provider_name as instance,
  record.model,
  record.session_id,
  record.native_tokens_prompt as input_tokens,
  record.native_tokens_cached as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  record.native_tokens_completion as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  case when is_true(record.streamed) then first_token_ms end as ttft_ms,
  case
    when first_token_ms is null or record.generation_time is null then null
    when latency_fault(first_token_ms) is not null then first_token_ms
    when latency_fault(record.generation_time) is not null then record.generation_time
    else to_json(
      try_cast(first_token_ms::varchar as double) + try_cast(record.generation_time::varchar as double)
    )
  end as e2e_ms,
  case
    when is_true(record.cancelled) then to_json('cancelled')
    when record.finish_reason = 'error' then to_json('error')
  end as status
from records
