-- name: formats/bedrock
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds
-- why: for Claude the input leaves out read and written tokens; the suffix of an inference profile's ARN names the deployment;
--      the log has no time to first token
-- summary: AWS Bedrock model invocation logs, one JSON object a line (S3 or CloudWatch)
-- switch_on: in the Bedrock console, or with put-model-invocation-logging-configuration, log invocations to S3 or CloudWatch
-- keys: schemaType, requestId, modelId
-- ttft_basis: gateway
-- cached_basis: measured
-- input_tokens: by line
with records as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_transform(line, '{
        "schemaType": "VARCHAR", "timestamp": "JSON", "requestId": "JSON", "modelId": "JSON",
        "inferenceRegion": "JSON", "region": "JSON", "errorCode": "JSON",
        "input": {
          "inputTokenCount": "JSON", "cacheReadInputTokenCount": "JSON", "cacheWriteInputTokenCount": "JSON"
        },
        "output": {
          "outputTokenCount": "JSON", "outputBodyJson": {"metrics": {"latencyMs": "JSON"}, "usage": "JSON"}
        }
      }')
    end as record
  from lines
),

-- A macro repeats what it is given: fields have a name of their own before they are counted.
named as (
  select
    *,
    usage_fields(record.output.outputBodyJson.usage) as fields
  from records
),

bodies as (
  select
    *,
    usage_counts(fields) as body
  from named
),

counted as (
  select
    *,
    coalesce(record.input.inputTokenCount, body.input) as input,
    coalesce(record.input.cacheReadInputTokenCount, body.cached) as cached,
    coalesce(record.input.cacheWriteInputTokenCount, body.written) as written,
    coalesce(record.output.outputTokenCount, body.output) as output,
    coalesce(regexp_matches(record.modelId ->> '$', 'anthropic|claude'), false) as is_claude
  from bodies
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  coalesce(record.schemaType = 'ModelInvocationLog', true) as is_request,
  null::varchar as kind,
  record.timestamp as arrived,
  record.requestId as request_id,
  case
    when json_type(record.modelId) = 'VARCHAR'
      then to_json(nullif(regexp_extract(record.modelId ->> '$', '/([^/]+)$', 1), ''))
  end as deployment,
  coalesce(record.inferenceRegion, record.region) as instance,
  record.modelId as model,
  null::json as session_id,
  case
    when is_claude and not is_absent(input) then token_sum(input, cached, written)
    else input_with_cached(input, cached, written, output, body.total, false)
  end as input_tokens,
  cached as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  written as cache_write_tokens,
  output as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  record.output.outputBodyJson.metrics.latencyMs as e2e_ms,
  case when record.errorCode is not null then to_json('error') end as status
from counted
