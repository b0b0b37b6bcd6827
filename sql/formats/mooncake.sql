-- name: formats/mooncake
-- grain: one line
-- params: none
-- reads: lines
-- units: as logged: milliseconds since the trace began
-- why: the trace says which blocks of 512 tokens a prompt consists of, not what a cache served: the reader simulates one that
--      never forgets. Its times are relative: 2020-01-01T00:00:00Z stands for the beginning, a day no traffic was recorded
--      on, so that hours of a trace can be told from hours of a real day
-- summary: Mooncake's public traces of block hashes; cached tokens are simulated (infinite prefix cache)
-- switch_on: download a trace of kvcache-ai/Mooncake (timestamp, input_length, output_length, hash_ids); give it a
--      deployment of its own in the source, since arrivals count from 2020-01-01T00:00:00Z and hits are simulated
-- keys: timestamp, input_length, output_length, hash_ids
-- reader: hash_trace
-- epoch_unit: ms
-- ttft_basis: declared
-- cached_basis: simulated
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.timestamp', '$.input_length', '$.simulated_cached_tokens', '$.output_length'
      ])
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  coalesce(
    json_line_fault(line), case when is_absent(field[3]) then 'hash_trace_not_understood' end
  ) as line_fault,
  true as is_request,
  null::varchar as kind,
  case
    when json_type(field[1]) in ('UBIGINT', 'BIGINT')
      then to_json(1577836800000 + try_cast(field[1]::varchar as hugeint))
    else field[1]
  end as arrived,
  null::json as request_id,
  null::json as deployment,
  null::json as instance,
  null::json as model,
  null::json as session_id,
  field[2] as input_tokens,
  field[3] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[4] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  null::json as e2e_ms,
  null::json as status
from fields
