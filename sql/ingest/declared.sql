-- name: ingest/declared
-- grain: one line
-- params: none
-- reads: logged (a format's lines); the session's variables timezone, latency_unit and adds_cached (the input leaves the
--        cached and the written tokens out), NULL where nothing is declared
-- units: as logged in; latencies in milliseconds out
-- why: what a source declares about its log, applied between what a format maps and what is judged: a log without
--      declarations does not pass through here. Times of the zone become UTC
with timed as (
  select
    *,
    case
      when
        starts_with(arrived::varchar, '"')
        and regexp_full_match(name_text(arrived), '\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d{1,9})?)?')
        then instants_of_local(epoch_us(try_cast(name_text(arrived) as timestamp)), getvariable('timezone')::varchar)
    end as instants,
    to_json(coalesce(getvariable('latency_unit')::varchar, 'ms')) as latency_unit
  from logged
)

select
  line_number,
  byte_offset,
  line,
  coalesce(line_fault, case when is_request then local_time_fault(instants) end) as line_fault,
  is_request,
  kind,
  case
    when len(instants) = 1 then to_json(strftime(make_timestamp(instants[1]), '%Y-%m-%dT%H:%M:%S.%fZ'))
    else arrived
  end as arrived,
  request_id,
  deployment,
  instance,
  model,
  session_id,
  case
    when getvariable('adds_cached')::boolean and not is_absent(input_tokens)
      then token_sum(input_tokens, cached_tokens, cache_write_tokens)
    else input_tokens
  end as input_tokens,
  cached_tokens,
  cached_device_tokens,
  cached_host_tokens,
  cached_storage_tokens,
  cache_write_tokens,
  output_tokens,
  ms_of_quantity(queue_ms, latency_unit) as queue_ms,
  ms_of_quantity(prefill_ms, latency_unit) as prefill_ms,
  ms_of_quantity(ttft_ms, latency_unit) as ttft_ms,
  ms_of_quantity(e2e_ms, latency_unit) as e2e_ms,
  status
from timed
