-- name: formats/litellm_spend
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: its cache_hit is LiteLLM's own cache of responses, never the prefix cache; model_group is the pool that it routes to,
--      model_id one of the pool's members
-- summary: LiteLLM proxy: rows of LiteLLM_SpendLogs, one JSON object a line
-- switch_on: give the proxy a database, and export the table: psql -qAtc 'select row_to_json(t) from "LiteLLM_SpendLogs" t';
--      stream with stream_options.include_usage, else streams report no usage
-- keys: startTime, completionStartTime, call_type
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
        "request_id": "JSON", "model_group": "JSON", "model": "JSON", "model_id": "JSON", "api_base": "JSON",
        "session_id": "JSON", "startTime": "JSON", "completionStartTime": "JSON", "endTime": "JSON",
        "request_duration_ms": "JSON", "prompt_tokens": "JSON", "completion_tokens": "JSON", "total_tokens": "JSON",
        "metadata": "JSON", "status": "JSON"
      }')
    end as record,
    case when json_valid(line) then is_true(json_extract(line, '$.cache_hit')) end as is_response_cache
  from lines
),

unwrapped as (
  select
    *,
    utc_text(record.startTime) as beginning,
    utc_text(record.completionStartTime) as first_token,
    utc_text(record.endTime) as ending,
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
  beginning as arrived,
  record.request_id,
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
  first_token_ms(beginning, first_token, ending) as ttft_ms,
  coalesce(record.request_duration_ms, ms_between(beginning, ending)) as e2e_ms,
  record.status
from shared
