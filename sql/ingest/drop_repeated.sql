-- name: ingest/drop_repeated
-- grain: statement
-- params: none
-- reads: staged, repeated_ids
-- units: none
-- why: of several lines with one identity the one that precedes counts (ingest/macros/1_precedence)
delete from staged
where reason is null and source_line in (
  select staged.source_line
  from staged
  inner join repeated_ids
    on staged.deployment = repeated_ids.deployment and staged.request_id = repeated_ids.request_id
  where staged.reason is null
  qualify row_number() over (
    partition by staged.deployment, staged.request_id
    order by
      precedence(
        staged.outcome, staged.output_tokens, staged.arrived_us, staged.input_tokens, staged.cached_tokens, staged.cache_write_tokens,
        staged.queue_us, staged.prefill_us, staged.ttft_us, staged.e2e_us, staged.instance, staged.model, staged.session_id,
        staged.status
      ) asc,
      staged.source_line asc
  ) > 1
)
