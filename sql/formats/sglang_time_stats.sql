-- name: formats/sglang_time_stats
-- grain: one line
-- params: none
-- reads: lines
-- units: milliseconds; entry_time in epoch seconds
-- why: with prefill and decode on separate engines each request has two lines: the decode one's cached tokens are
--      transferred ones, so it is no request here, and the prefill one's output is not the request's. forward_duration runs to
--      the last token: it is no time to first token. Lines of several tensor-parallel ranks are copies of one request
-- summary: SGLang server log with one ReqTimeStats line per request (cached tokens from SGLang 0.5.12 on)
-- switch_on: start SGLang with --enable-request-time-stats-logging; the metrics export says more where the version has it.
--      It names no deployment: give one with the source
-- pattern: Req ?Time ?Stats\(
-- epoch_unit: s
-- ttft_basis: engine
-- cached_basis: measured
with texts as (
  select
    line_number,
    byte_offset,
    line,
    log_text(line) as text,
    regexp_extract(
      log_text(line), 'Req ?Time ?Stats\((.*type=(\w+))\): (.*entry_time=.*)$', ['head', 'role', 'tail']
    ) as part
  from lines
),

fields as (
  select
    *,
    nullif(regexp_extract(part.head, 'rid=(.*?), (?:bootstrap_room|input[_ ]len)=', 1), '') as request_id,
    json_from_text(regexp_extract(part.tail, '\bqueue_duration=(.*?)ms', 1)) as queue_ms,
    json_from_text(regexp_extract(part.tail, '\bforward_duration=(.*?)ms', 1)) as forward_ms
  from texts
)

select
  line_number,
  byte_offset,
  line,
  case when regexp_matches(text, 'Req ?Time ?Stats\(') and part.head = '' then 'line_not_understood' end as line_fault,
  part.role not in ('', 'decode') as is_request,
  case when starts_with(request_id, 'HEALTH_CHECK') then 'health_check' end as kind,
  json_from_text(regexp_extract(part.tail, '\bentry_time=([^, ]*)', 1)) as arrived,
  to_json(request_id) as request_id,
  null::json as deployment,
  json_from_text(regexp_extract(text, '^\[[^\]]*\bDP(\d+)', 1)) as instance,
  null::json as model,
  null::json as session_id,
  json_from_text(regexp_extract(part.head, '\binput[_ ]len=([^,]*)', 1)) as input_tokens,
  json_from_text(regexp_extract(part.head, '\bcached_input_len=([^,]*)', 1)) as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  case when part.role = 'unified' then json_from_text(regexp_extract(part.head, '\boutput[_ ]len=([^,]*)', 1)) end
    as output_tokens,
  queue_ms,
  null::json as prefill_ms,
  null::json as ttft_ms,
  case when part.role = 'unified' then latency_sum(queue_ms, forward_ms) end as e2e_ms,
  null::json as status
from fields
