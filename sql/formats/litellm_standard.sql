-- name: formats/litellm_standard
-- grain: one line
-- params: none
-- reads: lines
-- units: seconds where it logs moments, else as logged
-- why: as litellm_spend, with moments as numbers; its response_time is the time to first token where a response is streamed
--      and the whole time where it is not: both follow from the moments instead
-- summary: LiteLLM callbacks: StandardLoggingPayload, one JSON object a line (S3, GCS or your own callback)
-- switch_on: set litellm_settings.callbacks to a logger that writes the payload as it is (s3_v2, gcs_bucket or your own);
--      stream with stream_options.include_usage, else streams report no usage
-- keys: startTime, completionStartTime, call_type, hidden_params, response_time
-- epoch_unit: s
-- ttft_basis: gateway
-- cached_basis: measured
-- input_tokens: by line
-- left_open: input_tokens
with records as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_transform(line, '{
        "id": "JSON", "litellm_call_id": "JSON", "model_group": "JSON", "model": "JSON", "model_id": "JSON", "api_base": "JSON",
        "session_id": "JSON", "startTime": "JSON", "completionStartTime": "JSON", "endTime": "JSON",
        "prompt_tokens": "JSON", "completion_tokens": "JSON", "total_tokens": "JSON",
        "metadata": "JSON", "status": "JSON"
      }')
    end as record,
    case when json_valid(line) then is_true(json_extract(line, '$.cache_hit')) end as is_response_cache
  from lines
),

unwrapped as (
  select
    *,
    unwrapped_json(unwrapped_json(record.metadata)) as metadata
  from records
),

-- A macro repeats what it is given: fields have a name of their own before they are counted.
named as (
  select
    *,
    usage_fields(json_extract(metadata, '$.usage_object')) as kept_fields,
    usage_fields(json_extract(metadata, '$.additional_usage_values')) as added_fields
  from unwrapped
),

counted as (
  select
    *,
    usage_counts(kept_fields) as kept,
    usage_counts(added_fields) as added
  from named
),

shared as (
  select
    *,
    token_greatest([kept.cached, added.cached]) as cached,
    token_greatest([kept.written, added.written]) as written
  from counted
)

select
  line_number,
  byte_offset,
  line,
  coalesce(
    json_line_fault(line), case when json_type(metadata) = 'VARCHAR' and metadata <> '""' then 'metadata_is_not_json' end
  ) as line_fault,
  true as is_request,
  case when is_response_cache then 'response_cache' end as kind,
  record.startTime as arrived,
  first_name([record.id, record.litellm_call_id]) as request_id,
  first_name([record.model_group]) as deployment,
  first_name([record.model_id, record.api_base]) as instance,
  record.model,
  record.session_id,
  case
    when kept.may_be_exclusive or added.may_be_exclusive or is_declared_exclusive()
      then input_with_cached(
        record.prompt_tokens, cached, written, record.completion_tokens, record.total_tokens, false
      )
    else record.prompt_tokens
  end as input_tokens,
  cached as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  written as cache_write_tokens,
  record.completion_tokens as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  ms_between_s(record.startTime, nullif(record.completionStartTime, record.endTime)) as ttft_ms,
  ms_between_s(record.startTime, record.endTime) as e2e_ms,
  record.status
from shared
