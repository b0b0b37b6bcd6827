-- name: formats/openai_usage
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: most gateways keep the provider's usage object as it came; which vendor it is shows in its keys
-- summary: a gateway's or client's own JSON lines around a provider's usage object (OpenAI, Anthropic, Bedrock Converse,
--      DeepSeek, Gemini, Moonshot and what is compatible with them)
-- switch_on: log one JSON object per request: ts (or timestamp, created_at, start_time; ISO 8601 with offset, when it was
--      sent), request_id (or id), deployment, instance, model, session_id, status, ttft_ms, e2e_ms (or latency_ms,
--      duration_ms), queue_ms, prefill_ms, and the response's usage object under usage, response, response.body or data;
--      ask streams for it with stream_options.include_usage, vLLM for cached tokens with --enable-prompt-tokens-details,
--      SGLang with --enable-cache-report
-- pattern: "(usage|usageMetadata)"\s*:\s*\{
-- ttft_basis: gateway
-- cached_basis: measured
-- input_tokens: by line
-- left_open: input_tokens, latency_unit, ttft_basis, cached_basis
with records as (
  select
    line_number,
    byte_offset,
    line,
    try(json_transform(line, '{
      "ts": "JSON", "timestamp": "JSON", "created_at": "JSON", "start_time": "JSON",
      "request_id": "JSON", "id": "JSON", "deployment": "JSON", "instance": "JSON", "model": "JSON",
      "session_id": "JSON", "session": "JSON",
      "queue_ms": "JSON", "prefill_ms": "JSON", "ttft_ms": "JSON",
      "e2e_ms": "JSON", "latency_ms": "JSON", "duration_ms": "JSON",
      "status_code": "JSON", "status": "JSON", "error": "JSON",
      "usage": "JSON", "usageMetadata": "JSON", "choices": [{"usage": "JSON"}],
      "response": {
        "id": "JSON", "model": "JSON", "status_code": "JSON", "usage": "JSON", "usageMetadata": "JSON",
        "choices": [{"usage": "JSON"}],
        "body": {"id": "JSON", "model": "JSON", "usage": "JSON", "usageMetadata": "JSON"}
      },
      "data": {"id": "JSON", "model": "JSON", "usage": "JSON", "usageMetadata": "JSON"}
    }')) as record
  from lines
),

-- A macro repeats what it is given: fields have a name of their own before they are counted.
named as (
  select
    *,
    usage_fields(coalesce(
      record.usage,
      record.response.usage,
      record.response.body.usage,
      record.data.usage,
      record.usageMetadata,
      record.response.usageMetadata,
      record.response.body.usageMetadata,
      record.data.usageMetadata,
      record.choices[1].usage,
      record.response.choices[1].usage
    )) as fields
  from records
),

counted as (
  select
    *,
    usage_counts(fields) as counts
  from named
)

select
  line_number,
  byte_offset,
  line,
  coalesce(
    json_line_fault(line), case when counts.is_sum_wrong then 'input_is_not_cached_plus_miss' end
  ) as line_fault,
  true as is_request,
  null::varchar as kind,
  coalesce(record.ts, record.timestamp, record.created_at, record.start_time) as arrived,
  coalesce(
    name_or_null(record.request_id),
    name_or_null(record.id),
    name_or_null(record.response.id),
    name_or_null(record.response.body.id),
    name_or_null(record.data.id)
  ) as request_id,
  record.deployment,
  record.instance,
  coalesce(
    name_or_null(record.model),
    name_or_null(record.response.model),
    name_or_null(record.response.body.model),
    name_or_null(record.data.model)
  ) as model,
  coalesce(name_or_null(record.session_id), name_or_null(record.session)) as session_id,
  usage_input(counts) as input_tokens,
  counts.cached as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  counts.written as cache_write_tokens,
  counts.output as output_tokens,
  record.queue_ms,
  record.prefill_ms,
  record.ttft_ms,
  coalesce(record.e2e_ms, record['latency_ms'], record.duration_ms) as e2e_ms,
  coalesce(
    record.status_code,
    record.status,
    record.response.status_code,
    case when record.error is not null then to_json('error') end
  ) as status
from counted
