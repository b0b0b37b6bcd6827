-- name: ingest/judged
-- grain: one line; reason is NULL for a request that may be loaded
-- params: deployment VARCHAR (where the line names none; without it, its model), epoch_unit VARCHAR (s, ms, us, ns or NULL),
--         naive_is_utc BOOLEAN (a zone is declared; what is local in another than UTC comes converted), latest_us BIGINT
--         (later arrivals are refused), ttft_basis VARCHAR, cached_basis VARCHAR, source_name VARCHAR,
--         source_file VARCHAR, source_sha256 VARCHAR
-- reads: mapped (a format's lines): JSON values under canonical names; line_fault, is_request and kind of the line
-- units: tokens; microseconds since 1970-01-01T00:00:00Z; latencies in microseconds
-- why: the only place where a log field is interpreted: types and rules are the same for every format
with shaped as (
  select
    *,
    case when starts_with(arrived::varchar, '"') then name_text(arrived) end as arrived_text,
    case when not is_absent(arrived) and json_type(arrived) in ('UBIGINT', 'BIGINT', 'DOUBLE') then arrived::varchar end
      as arrived_number,
    coalesce(name_text(deployment), $deployment, name_text(model)) as deployment_name,
    case
      when is_absent(status) then null
      when json_type(status) in ('VARCHAR', 'UBIGINT', 'BIGINT', 'BOOLEAN') then lower(status ->> '$')
    end as status_text
  from mapped
),

timed as (
  select
    *,
    case
      when regexp_full_match(
        arrived_text, '\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-](0\d|1[0-4])(:?[0-5]\d)?)'
      ) then epoch_us(try_cast(arrived_text as timestamptz))
      when
        $naive_is_utc
        and regexp_full_match(arrived_text, '\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?')
        then epoch_us(try_cast(arrived_text as timestamp))
      when $epoch_unit = 'ns' then try_cast(arrived_number as bigint) // 1000
      when $epoch_unit = 'us' then try_cast(arrived_number as bigint)
      when $epoch_unit = 'ms' then try_cast(round(try_cast(arrived_number as double) * 1000) as bigint)
      when $epoch_unit = 's' then try_cast(round(try_cast(arrived_number as double) * 1000000) as bigint)
    end as arrived_us,
    case
      when kind is not null then kind
      when status_text is null then 'ok'
      when status_text = '200' or try_cast(status_text as bigint) between 200 and 299 then 'ok'
      when status_text in ('499', 'aborted', 'abort', 'cancelled', 'canceled') then 'aborted'
      when try_cast(status_text as bigint) is not null then 'failed'
      when status_text in (
        'ok', 'success', 'succeeded', 'complete', 'completed', 'finished', 'done', 'true', 'stop', 'length', 'tool_calls',
        'incomplete'
      ) then 'ok'
      when status_text in ('error', 'failed', 'failure', 'false', 'timeout', 'rejected') then 'failed'
    end as outcome
  from shaped
),

faulted as (
  select
    *,
    case
      when line_fault is not null then line_fault
      when not is_request then 'not_a_request'
      when is_absent(arrived) then 'missing_timestamp'
      when arrived_number is not null and $epoch_unit is null then 'epoch_unit_not_declared'
      when
        arrived_us is null
        and not $naive_is_utc
        and regexp_full_match(arrived_text, '\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d([.]\d+)?)?')
        then 'timestamp_without_offset'
      when arrived_us is null then 'timestamp_not_understood'
      when arrived_us < 1577836800000000 then 'timestamp_before_2020'
      when arrived_us > $latest_us then 'timestamp_in_the_future'
      when deployment_name is null then 'missing_deployment'
      when is_absent(input_tokens) and outcome = 'ok' then 'missing_input_tokens'
      else coalesce(
        token_fault(input_tokens),
        token_fault(cached_tokens),
        token_fault(cached_device_tokens),
        token_fault(cached_host_tokens),
        token_fault(cached_storage_tokens),
        token_fault(cache_write_tokens),
        token_fault(output_tokens),
        case when token_count(cached_tokens) > token_count(input_tokens) then 'cached_exceeds_input' end,
        latency_fault(queue_ms),
        latency_fault(prefill_ms),
        latency_fault(ttft_ms),
        latency_fault(e2e_ms),
        name_fault(request_id),
        name_fault(deployment),
        name_fault(instance),
        name_fault(model),
        name_fault(session_id),
        case when outcome is null or (not is_absent(status) and status_text is null) then 'status_not_understood' end
      )
    end as reason
  from timed
)

select
  reason,
  line_number as source_line,
  byte_offset,
  case when reason is not null then left(line, 500) end as excerpt,
  case when name_text(request_id) is null then 'sha256:' || sha256(line) else name_text(request_id) end as request_id,
  arrived_us,
  deployment_name as deployment,
  name_text(instance) as instance,
  name_text(model) as model,
  name_text(session_id) as session_id,
  token_count(input_tokens) as input_tokens,
  token_count(cached_tokens) as cached_tokens,
  token_count(cached_device_tokens) as cached_device_tokens,
  token_count(cached_host_tokens) as cached_host_tokens,
  token_count(cached_storage_tokens) as cached_storage_tokens,
  token_count(cache_write_tokens) as cache_write_tokens,
  token_count(output_tokens) as output_tokens,
  case when latency_fault(queue_ms) is null then latency_us(queue_ms) end as queue_us,
  case when latency_fault(prefill_ms) is null then latency_us(prefill_ms) end as prefill_us,
  case when latency_fault(ttft_ms) is null then latency_us(ttft_ms) end as ttft_us,
  case when latency_fault(e2e_ms) is null then latency_us(e2e_ms) end as e2e_us,
  $ttft_basis as ttft_basis,
  $cached_basis as cached_basis,
  status_text as status,
  outcome,
  $source_name as source_name,
  $source_file as source_file,
  $source_sha256 as source_sha256
from faulted
