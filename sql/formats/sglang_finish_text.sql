-- name: formats/sglang_finish_text
-- grain: one line
-- params: none
-- reads: lines
-- units: seconds; epoch seconds
-- why: the request log's default form is Python's own notation, which is no JSON, with prompts in it that may hold
--      anything: the last meta_info counts, and of it single keys. Time stamps as in sglang_request_log
-- summary: SGLang request log, text form (lines "Finish: obj=GenerateReqInput(...), out={...}")
-- switch_on: start SGLang with --enable-metrics --log-requests; prefer --log-requests-format json or the metrics export
--      where the version has them. It names no deployment: give one with the source
-- pattern: (Receive|Finish): obj=\w+\(
-- epoch_unit: s
-- ttft_basis: engine
-- cached_basis: measured
with texts as (
  select
    line_number,
    byte_offset,
    line,
    regexp_extract(
      log_text(line), '^(?:\[(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d)[^\]]*\])?.*?Finish: obj=(.*''meta_info'': \{)(.*)$',
      ['written', 'sent', 'meta']
    ) as part,
    contains(line, 'Finish: obj=') as is_request
  from lines
),

fields as (
  select
    *,
    nullif(regexp_extract(part.meta, '''id'': ''([^'']*)''', 1), '') as request_id,
    regexp_extract(part.meta, '''cached_tokens_details'': \{([^}]*)\}', 1) as tiers,
    json_from_text(regexp_extract(part.meta, '''request_received_ts'': ([^,}]*)', 1)) as received,
    json_from_text(regexp_extract(part.meta, '''prefill_finished_time'': ([^,}]*)', 1)) as prefill_finished,
    json_from_text(lower(regexp_extract(part.sent, '.*\bstream=(True|False)', 1))) as streamed
  from texts
)

select
  line_number,
  byte_offset,
  line,
  case when is_request and part.meta = '' then 'line_not_understood' end as line_fault,
  is_request,
  case when starts_with(request_id, 'HEALTH_CHECK') then 'health_check' end as kind,
  first_of(received, log_time(line), to_json(nullif(part.written, ''))) as arrived,
  to_json(request_id) as request_id,
  null::json as deployment,
  json_from_text(regexp_extract(part.meta, '''dp_rank'': ([^,}]*)', 1)) as instance,
  null::json as model,
  null::json as session_id,
  json_from_text(regexp_extract(part.meta, '''prompt_tokens'': ([^,}]*)', 1)) as input_tokens,
  json_from_text(regexp_extract(part.meta, '''cached_tokens'': ([^,}]*)', 1)) as cached_tokens,
  json_from_text(regexp_extract(tiers, '''device'': ([^,}]*)', 1)) as cached_device_tokens,
  json_from_text(regexp_extract(tiers, '''host'': ([^,}]*)', 1)) as cached_host_tokens,
  json_from_text(regexp_extract(tiers, '''storage'': ([^,}]*)', 1)) as cached_storage_tokens,
  null::json as cache_write_tokens,
  json_from_text(regexp_extract(part.meta, '''completion_tokens'': ([^,}]*)', 1)) as output_tokens,
  ms_from_s(json_from_text(regexp_extract(part.meta, '''queue_time'': ([^,}]*)', 1))) as queue_ms,
  ms_between_s(
    json_from_text(regexp_extract(part.meta, '''forward_entry_time'': ([^,}]*)', 1)), prefill_finished
  ) as prefill_ms,
  sglang_ttft_ms(
    received, json_from_text(regexp_extract(part.meta, '''first_token_latency'': ([^,}]*)', 1)), prefill_finished, streamed
  ) as ttft_ms,
  ms_from_s(json_from_text(regexp_extract(part.meta, '''e2e_latency'': ([^,}]*)', 1))) as e2e_ms,
  json_from_text(regexp_extract(part.meta, '''finish_reason'': \{[^}]*?''type'': ''(\w+)''', 1)) as status
from fields
