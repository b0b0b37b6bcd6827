-- name: formats/helicone
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds; moments as text, UTC
-- why: its columns default to 0, so 0 never says that something was counted; a cache_reference_id is its own cache of
--      responses, never the prefix cache
-- summary: Helicone requests (request_response_rmt), one JSON object a line
-- switch_on: export request_response_rmt from ClickHouse as JSONEachRow, counts as numbers
--      (output_format_json_quote_64bit_integers = 0)
-- keys: request_created_at, prompt_cache_read_tokens
-- ttft_basis: gateway
-- cached_basis: measured
-- input_tokens: by line
-- left_open: input_tokens
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.request_created_at', '$.request_id', '$.provider', '$.model', '$.properties."Helicone-Session-Id"', '$.status'
      ])
    end as field,
    case
      when json_valid(line) then list_transform(
        json_extract(line, [
          '$.prompt_tokens', '$.prompt_cache_read_tokens', '$.prompt_cache_write_tokens', '$.completion_tokens',
          '$.time_to_first_token', '$.latency'
        ]),
        lambda value: nullif(value, '0')
      )
    end as number,
    case when json_valid(line) then json_extract_string(line, '$.cache_reference_id') end as response_cache_id
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  true as is_request,
  case
    when response_cache_id not in ('', '00000000-0000-0000-0000-000000000000') then 'response_cache'
  end as kind,
  utc_text(field[1]) as arrived,
  field[2] as request_id,
  null::json as deployment,
  field[3] as instance,
  field[4] as model,
  field[5] as session_id,
  input_with_cached(number[1], number[2], number[3], number[4], null, false) as input_tokens,
  number[2] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  number[3] as cache_write_tokens,
  number[4] as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  number[5] as ttft_ms,
  number[6] as e2e_ms,
  field[6] as status
from fields
