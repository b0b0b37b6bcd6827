-- name: ingest/macros/3_sglang_ttft_ms
-- grain: scalar; each argument is JSON: epoch seconds, seconds, epoch seconds, and whether the reply was streamed
-- params: none
-- reads: nothing
-- units: milliseconds
-- why: first_token_latency is not the first token's where the reply was sent whole, and versions 0.5.6 to 0.5.9 have none;
--      the end of prefill is known in both cases, and both start at the reception: queue and tokenisation are in
create or replace temp macro sglang_ttft_ms(received, first_token, prefill_finished, streamed) as
  first_of(
    case when streamed::varchar is distinct from 'false' then ms_from_s(first_token) end,
    ms_between_s(received, prefill_finished),
    null
  )
