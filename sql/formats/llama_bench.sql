-- name: formats/llama_bench
-- grain: one line: a test of one prompt length at one depth, the mean of its repetitions
-- params: none
-- reads: lines
-- units: as logged: avg_ns in nanoseconds
-- why: n_depth tokens stand in the KV cache before the clock starts, n_prompt are computed: together they are the prompt;
--      with n_gen the time covers generating too and is no prefill time; without n_prompt nothing is prefilled
-- summary: llama.cpp's llama-bench with -o jsonl
-- switch_on: llama-bench -o jsonl -p 512 -n 0 -d 0,1024,4096,16384 (several depths -d give several hit rates); declare
--      the deployment in the source
-- keys: n_prompt, n_gen, avg_ns, test_time
-- ttft_basis: engine
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    case
      when json_valid(line) then json_extract(line, [
        '$.test_time', '$.model_type', '$.n_prompt', '$.n_depth', '$.n_gen', '$.avg_ns'
      ])
    end as field
  from lines
)

select
  line_number,
  byte_offset,
  line,
  json_line_fault(line) as line_fault,
  coalesce(field[3]::varchar <> '0', true) as is_request,
  null::varchar as kind,
  field[1] as arrived,
  null::json as request_id,
  null::json as deployment,
  null::json as instance,
  field[2] as model,
  null::json as session_id,
  case when not is_absent(field[3]) then token_sum(field[3], field[4], null::json) end as input_tokens,
  field[4] as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[5] as output_tokens,
  null::json as queue_ms,
  case when field[5]::varchar = '0' then ms_from_ns(field[6]) end as prefill_ms,
  null::json as ttft_ms,
  ms_from_ns(field[6]) as e2e_ms,
  null::json as status
from fields
