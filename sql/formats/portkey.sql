-- name: formats/portkey
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds
-- why: cached tokens are only in the provider's own usage object, which streams often lack; cache_status is Portkey's cache of
--      responses, never the prefix cache; a trace holds several requests, so its id identifies none
-- summary: Portkey log export, one JSON object a line
-- switch_on: request a log export with created_at, ai_org, ai_model, req_units, res_units, response_time,
--      response_status_code, is_success, cache_status and response; stream with stream_options.include_usage
-- keys: ai_org, ai_model, response_time
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
        "id": "JSON", "created_at": "JSON", "ai_org": "JSON", "ai_model": "JSON", "req_units": "JSON",
        "res_units": "JSON", "response_time": "JSON", "response_status_code": "JSON", "is_success": "JSON",
        "cache_status": "VARCHAR", "response": "JSON"
      }')
    end as record
  from lines
),

answered as (
  select
    *,
    json_transform(unwrapped_json(record.response), '{"body": {"id": "JSON", "usage": "JSON"}}') as response
  from records
),

-- A macro repeats what it is given: fields have a name of their own before they are counted.
named as (
  select
    *,
    usage_fields(response.body.usage) as fields
  from answered
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
  json_line_fault(line) as line_fault,
  true as is_request,
  case when record.cache_status in ('HIT', 'SEMANTIC HIT') then 'response_cache' end as kind,
  record.created_at as arrived,
  first_name([record.id, response.body.id]) as request_id,
  null::json as deployment,
  record.ai_org as instance,
  record.ai_model as model,
  null::json as session_id,
  coalesce(usage_input(counts), record.req_units) as input_tokens,
  counts.cached as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  counts.written as cache_write_tokens,
  coalesce(counts.output, record.res_units) as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  record.response_time as e2e_ms,
  coalesce(record.response_status_code, record.is_success) as status
from counted
