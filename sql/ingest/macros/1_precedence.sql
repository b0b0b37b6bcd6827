-- name: ingest/macros/1_precedence
-- grain: scalar; of two records of one request the smaller wins
-- params: none
-- reads: nothing
-- units: tokens; microseconds
-- why: a success over a failure, then the more complete record (more output: a stream's last line), then the earlier arrival,
--      then its own content; never which file carried it, so that packaging and order of files change nothing
create or replace temp macro precedence(
  outcome, output_tokens, arrived_us, input_tokens, cached_tokens, cache_write_tokens, queue_us, prefill_us, ttft_us,
  e2e_us, instance, model, session_id, status
) as
  row(
    case outcome when 'ok' then 0 when 'aborted' then 1 else 2 end,
    -coalesce(output_tokens, -1),
    arrived_us,
    coalesce(input_tokens, -1),
    coalesce(cached_tokens, -1),
    coalesce(cache_write_tokens, -1),
    coalesce(queue_us, -1),
    coalesce(prefill_us, -1),
    coalesce(ttft_us, -1),
    coalesce(e2e_us, -1),
    coalesce(instance, ''),
    coalesce(model, ''),
    coalesce(session_id, ''),
    coalesce(status, '')
  )
