-- name: formats/canonical_csv
-- grain: one record
-- params: none
-- reads: lines
-- units: as logged
-- why: the canonical mapping; the reader makes a JSON object of every row and leaves names that look like numbers text
-- summary: valleywatch's own field names as CSV under a header
-- switch_on: write a header line with the names of the canonical format, then one line per finished request; an empty
--      cell is not reported, a line with fewer cells than the header lacks the last ones; token counts are whole numbers
--      (400, not 400.0) and no cell spans lines
-- keys: timestamp, input_tokens
-- reader: csv request_id deployment instance model session_id
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
