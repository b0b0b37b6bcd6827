-- name: ingest/clashes
-- grain: request of the staged file that the lake already has
-- params: none
-- reads: fresh, lake
-- units: microseconds
-- why: the record that precedes wins (ingest/macros/1_precedence), whichever file was read first; equal ones stay as they are
create or replace temp table clashes as
select
  fresh.deployment,
  fresh.request_id,
  lake.filename,
  lake.source_sha256,
  lake.arrived_us as lake_arrived_us,
  precedence(
        fresh.outcome, fresh.output_tokens, fresh.arrived_us, fresh.input_tokens, fresh.cached_tokens, fresh.cache_write_tokens,
        fresh.queue_us, fresh.prefill_us, fresh.ttft_us, fresh.e2e_us, fresh.instance, fresh.model, fresh.session_id
  ) < precedence(
        lake.outcome, lake.output_tokens, lake.arrived_us, lake.input_tokens, lake.cached_tokens, lake.cache_write_tokens,
        lake.queue_us, lake.prefill_us, lake.ttft_us, lake.e2e_us, lake.instance, lake.model, lake.session_id
  ) as is_superseded
from fresh
inner join lake on fresh.deployment = lake.deployment and fresh.request_id = lake.request_id
