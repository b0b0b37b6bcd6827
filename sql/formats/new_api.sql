-- name: formats/new_api
-- grain: one line
-- params: none
-- reads: lines
-- units: seconds since 1970, whole seconds, milliseconds
-- why: a row is written at the end: it arrived use_time before, to the second; as a duration whole seconds are too coarse for
--      any curve, so only the time to first response is kept; topping up and managing share the table and are no requests
-- summary: new-api and one-api: rows of the table logs, one JSON object a line
-- switch_on: export the table logs as JSON lines: psql -qAtc 'select row_to_json(t) from logs t'
-- keys: use_time, other
-- epoch_unit: s
-- ttft_basis: gateway
-- cached_basis: measured
-- input_tokens: by line
with records as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_transform(line, '{
        "id": "JSON", "request_id": "JSON", "created_at": "JSON", "use_time": "JSON", "type": "JSON",
        "model_name": "JSON", "channel": "JSON", "channel_id": "JSON", "is_stream": "JSON",
        "prompt_tokens": "JSON", "completion_tokens": "JSON", "other": "JSON"
      }')
    end as record
  from lines
),

unwrapped as (
  select
    *,
    unwrapped_json(record.other) as other
  from records
),

counted as (
  select
    *,
    json_transform(other, '{
      "claude": "JSON", "frt": "JSON", "cache_tokens": "JSON", "cache_creation_tokens": "JSON",
      "cache_creation_tokens_5m": "JSON", "cache_creation_tokens_1h": "JSON"
    }') as more
  from unwrapped
),

shared as (
  select
    *,
    token_greatest([
      more.cache_creation_tokens,
      token_sum(more.cache_creation_tokens_5m, more.cache_creation_tokens_1h, null)
    ]) as written
  from counted
)

select
  line_number,
  byte_offset,
  line,
  coalesce(
    json_line_fault(line), case when json_type(other) = 'VARCHAR' and other <> '""' then 'other_is_not_json' end
  ) as line_fault,
  coalesce(record.type in ('2', '5'), true) as is_request,
  null::varchar as kind,
  case
    when json_type(record.created_at) not in ('UBIGINT', 'BIGINT') then record.created_at
    when json_type(record.use_time) not in ('UBIGINT', 'BIGINT') then record.use_time
    else to_json(try_cast(record.created_at::varchar as hugeint) - try_cast(record.use_time::varchar as hugeint))
  end as arrived,
  first_name([record.request_id, record.id]) as request_id,
  null::json as deployment,
  coalesce(record.channel, record.channel_id) as instance,
  record.model_name as model,
  null::json as session_id,
  case
    when is_true(more.claude) and record.prompt_tokens is not null
      then token_sum(record.prompt_tokens, more.cache_tokens, written)
    else record.prompt_tokens
  end as input_tokens,
  more.cache_tokens as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  written as cache_write_tokens,
  record.completion_tokens as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  case
    when is_true(record.is_stream) and not coalesce(try_cast(more.frt::varchar as double) < 0, false) then more.frt
  end as ttft_ms,
  null::json as e2e_ms,
  case when record.type = '5' then to_json('error') end as status
from shared
