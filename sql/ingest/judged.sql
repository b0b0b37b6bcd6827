-- name: ingest/judged
-- grain: one line; reason is NULL for a request that may be loaded
-- params: deployment VARCHAR (where the line names none; without it, its model), epoch_unit VARCHAR (s, ms, us, ns or NULL),
--         naive_is_utc BOOLEAN (a zone is declared; what is local in another than UTC comes converted),
--         absent_cached_is_zero BOOLEAN (what an answered request does not say it did not hit),
--         keeps_excerpts BOOLEAN, latest_us BIGINT (later arrivals are refused), ttft_basis VARCHAR,
--         cached_basis VARCHAR, source_name VARCHAR, source_file VARCHAR, source_sha256 VARCHAR
-- reads: mapped (a format's lines): JSON values under canonical names; line_fault, is_request and kind of the line
-- units: tokens; microseconds since 1970-01-01T00:00:00Z; latencies in microseconds
-- why: the only place where a log field is interpreted: types and rules are the same for every format. Nearly every line
--      is plain: cheap comparisons settle those, and the rules that name a reason look at the others alone
with reported as (
  -- A field that is null is a field that is absent.
  select
    line_number,
    byte_offset,
    line,
    line_fault,
    is_request,
    kind,
    nullif(arrived, 'null') as arrived,
    nullif(request_id, 'null') as request_id,
    nullif(deployment, 'null') as deployment,
    nullif(instance, 'null') as instance,
    nullif(model, 'null') as model,
    nullif(session_id, 'null') as session_id,
    nullif(input_tokens, 'null') as input_tokens,
    nullif(cached_tokens, 'null') as cached_tokens,
    nullif(cached_device_tokens, 'null') as cached_device_tokens,
    nullif(cached_host_tokens, 'null') as cached_host_tokens,
    nullif(cached_storage_tokens, 'null') as cached_storage_tokens,
    nullif(cache_write_tokens, 'null') as cache_write_tokens,
    nullif(output_tokens, 'null') as output_tokens,
    nullif(queue_ms, 'null') as queue_ms,
    nullif(prefill_ms, 'null') as prefill_ms,
    nullif(ttft_ms, 'null') as ttft_ms,
    nullif(e2e_ms, 'null') as e2e_ms,
    nullif(status, 'null') as status
  from mapped
),

shaped as (
  select
    *,
    name_text(deployment) as named_deployment,
    case when starts_with(arrived::varchar, '"') then arrived ->> '$' end as arrived_text,
    case when json_type(arrived) in ('UBIGINT', 'BIGINT', 'DOUBLE') then arrived::varchar end as arrived_number,
    case
      when status = '200' then '200'
      when json_type(status) in ('VARCHAR', 'UBIGINT', 'BIGINT', 'BOOLEAN') then lower(status ->> '$')
    end as status_text,
    is_plain_count(input_tokens)
    and is_plain_count(cached_tokens)
    and is_plain_count(cached_device_tokens)
    and is_plain_count(cached_host_tokens)
    and is_plain_count(cached_storage_tokens)
    and is_plain_count(cache_write_tokens)
    and is_plain_count(output_tokens)
    and is_plain_latency(queue_ms)
    and is_plain_latency(prefill_ms)
    and is_plain_latency(ttft_ms)
    and is_plain_latency(e2e_ms)
    and is_plain_name(request_id)
    and is_plain_name(deployment)
    and is_plain_name(instance)
    and is_plain_name(model)
    and is_plain_name(session_id) as has_plain_fields
  from reported
),

timed as (
  select
    *,
    coalesce(named_deployment, $deployment, name_text(model)) as deployment_name,
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
      when status_text is null or status_text = '200' or try_cast(status_text as bigint) between 200 and 299 then 'ok'
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
    $absent_cached_is_zero and is_absent(cached_tokens) and outcome = 'ok' as is_zero_by_declaration,
    case
      when line_fault is not null then line_fault
      when not is_request then 'not_a_request'
      when
        has_plain_fields
        and arrived_us between 1577836800000000 and $latest_us
        and deployment_name is not null
        and outcome is not null
        and (status is null or status_text is not null)
        and (input_tokens is not null or outcome <> 'ok')
        and coalesce(try_cast(cached_tokens::varchar as bigint) <= try_cast(input_tokens::varchar as bigint), true)
        then null
      when arrived is null then 'missing_timestamp'
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
      when input_tokens is null and outcome = 'ok' then 'missing_input_tokens'
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
        case when outcome is null or (status is not null and status_text is null) then 'status_not_understood' end
      )
    end as reason
  from timed
)

select
  reason,
  line_number as source_line,
  byte_offset,
  case when reason is not null then strlen(line) end as line_bytes,
  case when reason is not null and $keeps_excerpts then left(line, 500) end as excerpt,
  case
    when reason is not null and regexp_full_match(arrived_number, '(1[5-9]|2\d)(\d{14}|\d{17})') then length(arrived_number)
  end as arrived_digits,
  pseudonym('request_id', coalesce(name_text(request_id), 'sha256:' || sha256(line))) as request_id,
  arrived_us,
  deployment_name as deployment,
  pseudonym('instance', name_text(instance)) as instance,
  name_text(model) as model,
  pseudonym('session_id', name_text(session_id)) as session_id,
  token_count(input_tokens) as input_tokens,
  case when is_zero_by_declaration then 0 else token_count(cached_tokens) end as cached_tokens,
  token_count(cached_device_tokens) as cached_device_tokens,
  token_count(cached_host_tokens) as cached_host_tokens,
  token_count(cached_storage_tokens) as cached_storage_tokens,
  token_count(cache_write_tokens) as cache_write_tokens,
  token_count(output_tokens) as output_tokens,
  latency_us(queue_ms) as queue_us,
  latency_us(prefill_ms) as prefill_us,
  latency_us(ttft_ms) as ttft_us,
  latency_us(e2e_ms) as e2e_us,
  $ttft_basis as ttft_basis,
  case when is_zero_by_declaration is not true then $cached_basis else 'declared' end as cached_basis,
  status_text as status,
  outcome,
  $source_name as source_name,
  $source_file as source_file,
  $source_sha256 as source_sha256
from faulted
