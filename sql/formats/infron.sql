-- name: formats/infron
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged
-- why: counts come from the upstream's usage object: where that is empty the client's own counts are 0 and mean nothing.
--      The only time is the epoch second that one of the two gateways puts into the response's id. An answer without it
--      is known in everything but its hour: it is kept as `untimed`, at 2020-01-01T00:00:00Z, a day no traffic was
--      recorded on, so that it adds to the totals of the file and to no hour, busy period or rate
-- summary: records of the gateway benchmark prompt-cache-bench, one JSON object a line
-- switch_on: take the benchmark's requests as JSON lines; only answers whose id is gen-<epoch seconds>-... have a time,
--      the others are loaded with the outcome untimed and stay out of every rate; the upstream provider is the deployment
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
),

timed as (
  select
    *,
    to_json(try_cast(nullif(regexp_extract(field[1] ->> '$', '^gen-([0-9]{10})-', 1), '') as bigint)) as answered
  from fields
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  case when answered is null and not (field[10]::varchar = '200' and is_absent(field[4])) then 'untimed' end as kind,
  coalesce(answered, to_json('2020-01-01T00:00:00Z')) as arrived,
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
from timed
