-- name: formats/canonical_parquet
-- grain: one record
-- params: none
-- reads: lines
-- units: as logged
-- why: the canonical mapping; the reader makes a JSON object of every row
-- summary: valleywatch's own field names as Parquet
-- switch_on: write the columns of the canonical format; timestamp is a TIMESTAMP with a zone, or without one where the
--      source declares timezone = "UTC"; token counts are integer columns (in pandas Int64, not float64)
-- keys: timestamp, input_tokens
-- reader: parquet
-- ttft_basis: declared
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    try(json_extract(line, [
      '$.timestamp', '$.request_id', '$.deployment', '$.instance', '$.model', '$.session_id',
      '$.input_tokens', '$.cached_tokens', '$.cache_write_tokens', '$.output_tokens',
      '$.queue_ms', '$.prefill_ms', '$.ttft_ms', '$.e2e_ms', '$.status'
    ])) as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  null::varchar as kind,
  field[1] as arrived,
  field[2] as request_id,
  field[3] as deployment,
  field[4] as instance,
  field[5] as model,
  field[6] as session_id,
  field[7] as input_tokens,
  field[8] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  field[9] as cache_write_tokens,
  field[10] as output_tokens,
  field[11] as queue_ms,
  field[12] as prefill_ms,
  field[13] as ttft_ms,
  field[14] as e2e_ms,
  field[15] as status
from fields
