-- name: ingest/clashes
-- grain: request of the staged file that the lake already has
-- params: none
-- reads: staged, lake
-- units: microseconds
-- why: the record that precedes wins (ingest/macros/1_precedence), whichever file was read first; equal ones stay as they are
create or replace temp table clashes as
select
  staged.deployment,
  staged.request_id,
  lake.filename,
  lake.source_sha256,
  lake.arrived_us as lake_arrived_us,
  precedence(
        staged.outcome, staged.output_tokens, staged.arrived_us, staged.input_tokens, staged.cached_tokens, staged.cache_write_tokens,
        staged.queue_us, staged.prefill_us, staged.ttft_us, staged.e2e_us, staged.instance, staged.model, staged.session_id,
        staged.status
  ) < precedence(
        lake.outcome, lake.output_tokens, lake.arrived_us, lake.input_tokens, lake.cached_tokens, lake.cache_write_tokens,
        lake.queue_us, lake.prefill_us, lake.ttft_us, lake.e2e_us, lake.instance, lake.model, lake.session_id,
        lake.status
  ) as is_superseded
from staged
inner join lake on staged.deployment = lake.deployment and staged.request_id = lake.request_id
where staged.reason is null
