-- name: formats/langfuse
-- grain: one line
-- params: none
-- reads: lines
-- units: moments as text, UTC
-- why: Langfuse takes cached and written tokens out of the input, but some SDKs hand it an input that includes them: a total
--      that adds up without them says so
-- summary: Langfuse observations, one JSON object a line
-- switch_on: export the observations table (or its blob storage export) as JSON lines, counts as numbers
--      (ClickHouse: output_format_json_quote_64bit_integers = 0), merged (final), so that each observation comes once
-- keys: usage_details, provided_model_name
-- ttft_basis: client
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
        "id": "JSON", "type": "VARCHAR", "start_time": "JSON", "completion_start_time": "JSON", "end_time": "JSON",
        "provided_model_name": "JSON", "session_id": "JSON", "level": "VARCHAR", "usage_details": "JSON"
      }')
    end as record
  from lines
),

timed as (
  select
    *,
    utc_text(record.start_time) as beginning,
    utc_text(record.completion_start_time) as first_token,
    utc_text(record.end_time) as ending,
    json_transform(unwrapped_json(record.usage_details), '{
      "input": "JSON", "output": "JSON", "total": "JSON",
      "input_cached_tokens": "JSON", "cache_read_input_tokens": "JSON", "input_cache_read": "JSON",
      "cache_creation_input_tokens": "JSON", "input_cache_creation": "JSON",
      "input_cache_creation_5m": "JSON", "input_cache_creation_1h": "JSON"
    }') as usage
  from records
),

counted as (
  select
    *,
    token_greatest([usage.input_cached_tokens, usage.cache_read_input_tokens, usage.input_cache_read]) as cached,
    token_greatest([
      usage.cache_creation_input_tokens,
      usage.input_cache_creation,
      token_sum(usage.input_cache_creation_5m, usage.input_cache_creation_1h, null)
    ]) as written
  from timed
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  coalesce(record.type = 'GENERATION', true) as is_request,
  null::varchar as kind,
  beginning as arrived,
  record.id as request_id,
  null::json as deployment,
  null::json as instance,
  record.provided_model_name as model,
  record.session_id,
  input_with_cached(usage.input, cached, written, usage.output, usage.total, true) as input_tokens,
  cached as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  written as cache_write_tokens,
  usage.output as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  first_token_ms(beginning, first_token, ending) as ttft_ms,
  ms_between(beginning, ending) as e2e_ms,
  case when record.level = 'ERROR' then to_json('error') end as status
from counted
