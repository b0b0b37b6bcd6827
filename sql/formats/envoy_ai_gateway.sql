-- name: formats/envoy_ai_gateway
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds
-- why: Envoy writes "-" for what it does not know; MCP messages share the access log and are no requests. The model is the
--      one that was asked for: a failed request has no other
-- summary: Envoy AI Gateway access log, JSON lines with the keys of its example
-- switch_on: in the route's llmRequestCosts add CachedInputToken under llm_cached_input_token; in the EnvoyProxy's JSON access
--      log print start_time, duration, response_code, x-request-id, upstream_host, session.id, gen_ai.request.model,
--      gen_ai.response.model, gen_ai.usage.input_tokens, gen_ai.usage.output_tokens, and from the dynamic metadata
--      gen_ai.usage.cached_input_tokens (llm_cached_input_token), gen_ai.usage.cache_creation_input_tokens and
--      token_latency_ttft
-- keys: start_time, gen_ai.usage.input_tokens
-- ttft_basis: gateway
-- cached_basis: measured
-- left_open: input_tokens
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then list_transform(
        json_extract(line, [
          '$.start_time', '$.x-request-id', '$.upstream_host', '$."gen_ai.request.model"', '$."gen_ai.response.model"',
          '$."session.id"', '$."gen_ai.usage.input_tokens"', '$."gen_ai.usage.cached_input_tokens"',
          '$.llm_cached_input_token', '$."gen_ai.usage.cache_creation_input_tokens"',
          '$.llm_cache_creation_input_token', '$."gen_ai.usage.output_tokens"', '$.token_latency_ttft', '$.duration',
          '$.response_code'
        ]),
        lambda value: nullif(value, '"-"')
      )
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  not is_absent(first_of(field[4], field[5], field[7])) as is_request,
  null::varchar as kind,
  field[1] as arrived,
  field[2] as request_id,
  null::json as deployment,
  field[3] as instance,
  first_of(field[4], field[5], null) as model,
  field[6] as session_id,
  field[7] as input_tokens,
  first_of(field[8], field[9], null) as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  first_of(field[10], field[11], null) as cache_write_tokens,
  field[12] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  field[13] as ttft_ms,
  field[14] as e2e_ms,
  field[15] as status
from fields
