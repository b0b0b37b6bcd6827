-- name: formats/otlp
-- grain: one line
-- params: none
-- reads: lines
-- units: nanoseconds since 1970 where it logs moments, seconds where it logs durations
-- why: conventions say that the input includes cached tokens; instrumentations of vendors that count them apart break it,
--      which shows in reads that exceed the input or in a total that only adds up with them
-- summary: OpenTelemetry spans of LLM calls as OTLP JSON, one span a line (vLLM, SGLang, OpenInference, Traceloop, Vercel)
-- switch_on: let a collector write one span a line: a batch processor with send_batch_max_size 1 before a file exporter with
--      format json; keep one level of spans per call (the engine's, which knows the cached tokens), or calls count twice
-- pattern: "(resourceSpans|startTimeUnixNano)"\s*:
-- epoch_unit: ns
-- ttft_basis: engine
-- cached_basis: measured
-- input_tokens: by line
-- left_open: input_tokens, ttft_basis
with envelopes as (
  select
    line_number,
    byte_offset,
    line,
    case when json_valid(line) then json_extract(line, '$.resourceSpans') is not null else false end as is_envelope,
    case when json_valid(line) then json_extract(line, '$.resourceSpans[*].scopeSpans[*].spans[*]') end as spans,
    case
      when json_valid(line)
        then coalesce(
          json_extract(line, '$.resourceSpans[0].resource.attributes'), json_extract(line, '$.resource.attributes')
        )
    end as resource_attributes
  from lines
),

records as (
  select
    *,
    json_transform(case when is_envelope then spans[1] when json_valid(line) then line::json end, '{
      "spanId": "JSON", "startTimeUnixNano": "JSON", "endTimeUnixNano": "JSON",
      "attributes": "JSON", "status": {"code": "JSON"}, "events": [{"name": "VARCHAR", "timeUnixNano": "JSON"}]
    }') as span
  from envelopes
),

attributed as (
  select
    *,
    otlp_integer(span.startTimeUnixNano) as beginning,
    nullif(otlp_integer(span.endTimeUnixNano), '0') as ending,
    otlp_attributes(span.attributes) as attributes,
    otlp_attributes(resource_attributes) as resource,
    list_filter(span.events, lambda event: event.name in ('first_token', 'gen_ai.first_token'))[1].timeUnixNano
      as first_token
  from records
),

counted as (
  select
    *,
    otlp_attribute(attributes, [
      'gen_ai.usage.input_tokens', 'gen_ai.usage.prompt_tokens', 'llm.token_count.prompt', 'llm.usage.prompt_tokens',
      'ai.usage.inputTokens', 'ai.usage.promptTokens'
    ]) as input,
    otlp_attribute(attributes, [
      'gen_ai.usage.cache_read.input_tokens', 'gen_ai.usage.cache_read_input_tokens',
      'llm.token_count.prompt_details.cache_read'
    ]) as read_apart,
    otlp_attribute(attributes, [
      'gen_ai.usage.cached_tokens', 'llm.token_count.prompt_details.cache_input', 'ai.usage.cachedInputTokens',
      'input_cached_tokens'
    ]) as read_within,
    otlp_attribute(attributes, [
      'gen_ai.usage.cache_creation.input_tokens', 'gen_ai.usage.cache_creation_input_tokens',
      'llm.token_count.prompt_details.cache_write'
    ]) as written,
    otlp_attribute(attributes, [
      'gen_ai.usage.output_tokens', 'gen_ai.usage.completion_tokens', 'llm.token_count.completion',
      'llm.usage.completion_tokens', 'ai.usage.outputTokens', 'ai.usage.completionTokens'
    ]) as output,
    otlp_attribute(attributes, ['gen_ai.usage.total_tokens', 'llm.token_count.total', 'llm.usage.total_tokens']) as total,
    otlp_attribute(attributes, ['gen_ai.request.model', 'gen_ai.response.model', 'llm.model_name']) as model
  from attributed
)

select
  line_number,
  byte_offset,
  line,
  coalesce(
    json_line_fault(line),
    case when is_envelope and len(spans) > 1 then 'several_spans_on_a_line' end,
    case
      when len(attributes) <> len(list_distinct(list_transform(attributes, lambda attribute: attribute.key)))
        then 'duplicate_key'
    end
  ) as line_fault,
  coalesce(input, read_apart, read_within, written, output) is not null as is_request,
  null::varchar as kind,
  beginning as arrived,
  first_name([
    otlp_attribute(attributes, ['gen_ai.response.id', 'gen_ai.request.id']), span.spanId
  ]) as request_id,
  null::json as deployment,
  otlp_attribute(resource, ['service.instance.id', 'k8s.pod.name']) as instance,
  model,
  otlp_attribute(attributes, ['gen_ai.conversation.id', 'session.id']) as session_id,
  case
    when read_apart is not null or written is not null or is_declared_exclusive()
      then input_with_cached(input, coalesce(read_apart, read_within), written, output, total, false)
    else input
  end as input_tokens,
  coalesce(read_apart, read_within) as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  written as cache_write_tokens,
  output as output_tokens,
  ms_from_s(otlp_attribute(attributes, ['gen_ai.latency.time_in_queue'])) as queue_ms,
  ms_from_s(otlp_attribute(attributes, ['gen_ai.latency.time_in_model_prefill'])) as prefill_ms,
  coalesce(
    ms_from_s(otlp_attribute(attributes, [
      'gen_ai.response.time_to_first_chunk', 'gen_ai.latency.time_to_first_token'
    ])),
    ms_between_ns(beginning, otlp_integer(first_token))
  ) as ttft_ms,
  ms_between_ns(beginning, ending) as e2e_ms,
  case
    when
      span.status.code in ('2', '"STATUS_CODE_ERROR"') or otlp_attribute(attributes, ['error.type']) is not null
      then to_json('error')
  end as status
from counted
