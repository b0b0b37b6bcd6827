-- name: formats/llama_cpp_log
-- grain: one task of a slot, assembled from its lines
-- params: none
-- reads: lines
-- units: milliseconds
-- why: the timings count the computed tokens alone and the new prompt all of them, so the cached ones are what is between;
--      where the server also says from which token on it computed, all three must add up. The arrival in a slot is
--      logged, waiting for one is not: time to first token and whole request count from there. A task that was cancelled
--      has no timings; embeddings have none either, and are refused by that name
-- summary: llama.cpp's server log as text, several lines a request
-- switch_on: run llama-server with --verbosity 4 where its version does not log "new prompt" lines by itself, and keep
--      its output with a container runtime's time stamps (docker logs --timestamps, Kubernetes log files): its own
--      count from the start. It names no deployment: give one with the source. Its replies (format llama_cpp) say more
-- pattern: ^(\S+ ((stdout|stderr) [FP] )?)?(\[\d+\] )?([0-9.]+ )?([A-Z] )?slot +\S+: +id +\d+ \| task +-?\d+ \|
-- reader: llama_tasks
-- ttft_basis: engine
-- cached_basis: measured
with fields as (
  select
    line_number,
    byte_offset,
    line,
    json_extract(line, [
      '$.started', '$.process', '$.prompt_tokens', '$.computed_tokens', '$.reused_tokens', '$.output_tokens',
      '$.prompt_ms', '$.total_ms'
    ]) as field,
    line ->> '$.fate' as fate
  from lines
),

counted as (
  select
    *,
    token_count(field[3]) as all_tokens,
    token_count(field[4]) as computed_tokens,
    token_count(field[5]) as reused_tokens
  from fields
)

select
  line_number,
  byte_offset,
  line,
  case
    when fate = 'unfinished' then 'request_unfinished'
    when all_tokens is null then 'prompt_length_not_logged'
    when fate = 'without timings' or computed_tokens is null and fate <> 'cancelled' then 'timings_not_logged'
    when computed_tokens > all_tokens or computed_tokens + reused_tokens <> all_tokens then 'prompt_counts_disagree'
  end as line_fault,
  true as is_request,
  null::varchar as kind,
  field[1] as arrived,
  null::json as request_id,
  null::json as deployment,
  field[2] as instance,
  null::json as model,
  null::json as session_id,
  field[3] as input_tokens,
  coalesce(to_json(all_tokens - computed_tokens), field[5]) as cached_tokens,
  null::json as cached_device_tokens,
  null::json as cached_host_tokens,
  null::json as cached_storage_tokens,
  null::json as cache_write_tokens,
  field[6] as output_tokens,
  null::json as queue_ms,
  field[7] as prefill_ms,
  field[7] as ttft_ms,
  field[8] as e2e_ms,
  case when fate = 'cancelled' then to_json('cancelled') end as status
from counted
