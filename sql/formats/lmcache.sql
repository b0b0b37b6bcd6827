-- name: formats/lmcache
-- grain: one line
-- params: none
-- reads: lines
-- units: tokens
-- why: LMCache's tokens count from the start of the prompt and so cover the engine's: cached is the larger of the two,
--      never the sum, and the engine's alone where the load is skipped. The time is that of the look-up, not of the
--      arrival, and nothing is timed: such rows have hit rates by hour, and no curve
-- summary: vLLM server log with LMCache's Reqid lines
-- switch_on: nothing to do, LMCache logs them at INFO; a container runtime's time stamps (docker logs --timestamps,
--      Kubernetes log files) or timezone = "UTC" give its local time stamps an offset. It names no deployment: give one
--      with the source
-- pattern: Reqid: \S+, Total tokens
-- ttft_basis: engine
-- cached_basis: measured
with texts as (
  select
    line_number,
    byte_offset,
    line,
    regexp_extract(
      log_text(line), '\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d),?(\d*)\] LMCache', ['second', 'fraction']
    ) as written,
    regexp_extract(
      log_text(line),
      'Reqid: (\S+), Total tokens ([^,]*),(?: Inference Engine computed tokens: ([^,]*),)? LMCache hit tokens: ([^,]*)(.*)$',
      ['request_id', 'total', 'engine', 'reused', 'rest']
    ) as part,
    contains(line, 'Reqid: ') as is_lookup
  from lines
),

fields as (
  select
    *,
    json_from_text(part.engine) as engine_tokens,
    json_from_text(part.reused) as reused_tokens,
    contains(part.rest, '< min_retrieve') as is_skipped
  from texts
)

select
  line_number,
  byte_offset,
  line,
  case when is_lookup and part.request_id = '' then 'line_not_understood' end as line_fault,
  is_lookup and trim(part.reused) <> 'None' as is_request,
  null::varchar as kind,
  first_of(
    log_time(line), to_json(nullif(concat_ws('.', nullif(written.second, ''), nullif(written.fraction, '')), '')), null
  ) as arrived,
  to_json(nullif(part.request_id, '')) as request_id,
  null::json as deployment,
  null::json as instance,
  null::json as model,
  null::json as session_id,
  json_from_text(part.total) as input_tokens,
  case
    when is_skipped or token_fault(engine_tokens) is not null then engine_tokens
    when token_fault(reused_tokens) is not null then reused_tokens
    else to_json(greatest(token_count(engine_tokens), token_count(reused_tokens)))
  end as cached_tokens,
  engine_tokens as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  null::json as output_tokens,
  null::json as queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  null::json as e2e_ms,
  null::json as status
from fields
