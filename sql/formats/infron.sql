-- name: formats/infron
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: counts come from the upstream's usage object: where that is empty the client's own counts are 0 and mean nothing;
--      the only time is the epoch second some gateways put into the response's id
-- summary: records of the gateway benchmark prompt-cache-bench, one JSON object a line
-- switch_on: take the benchmark's requests as JSON lines; only answers whose id is gen-<epoch seconds>-... have a time,
--      the others are refused; the upstream provider is the deployment
-- keys: response_id, cache_read_tokens, latency_ms, provider_name
-- epoch_unit: s
-- ttft_basis: client
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.response_id', '$.provider_name', '$.response_model', '$.usage.prompt_tokens',
        '$.usage.prompt_tokens_details.cached_tokens', '$.usage.prompt_tokens_details.cache_write_tokens',
        '$.usage.completion_tokens', '$.ttft_ms', '$.latency_ms', '$.status'
      ])
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  null::varchar as kind,
  to_json(try_cast(nullif(regexp_extract(field[1] ->> '$', '^gen-([0-9]{10})-', 1), '') as bigint)) as arrived,
  field[1] as request_id,
  field[2] as deployment,
  null::json as instance,
  field[3] as model,
  null::json as session_id,
  field[4] as input_tokens,
  field[5] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  field[6] as cache_write_tokens,
  field[7] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  field[8] as ttft_ms,
  field[9] as e2e_ms,
  field[10] as status
from fields
