-- name: ingest/clashes
-- grain: request of the staged file that the lake already has
-- params: none
-- reads: fresh, lake
-- units: microseconds
-- why: the earlier record wins, whichever file was read first: by arrival, then content hash, then line
create or replace temp table clashes as
select
  fresh.deployment,
  fresh.request_id,
  lake.filename,
  lake.source_sha256,
  lake.arrived_us as lake_arrived_us,
  (fresh.arrived_us, fresh.source_sha256, fresh.source_line)
    < (lake.arrived_us, lake.source_sha256, lake.source_line) as is_superseded
from fresh
inner join lake on fresh.deployment = lake.deployment and fresh.request_id = lake.request_id
