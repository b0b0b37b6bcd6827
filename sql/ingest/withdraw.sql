-- name: ingest/withdraw
-- grain: request of the staged file that the lake already has, or that it loses
-- params: origin_sha256 VARCHAR, line_number BIGINT
-- reads: clashes, lake
-- units: microseconds
-- why: a last line that was loaded as it stood has gone on: its record gives way, and counts nowhere (source_sha256 NULL)
create or replace temp table clashes as
select
  deployment,
  request_id,
  filename,
  source_sha256,
  lake_arrived_us,
  is_superseded
from clashes
where not exists (
  select 1 from lake
  where
    lake.source_sha256 = $origin_sha256
    and lake.source_line = $line_number
    and lake.deployment = clashes.deployment
    and lake.request_id = clashes.request_id
)
union all
select
  deployment,
  request_id,
  filename,
  null as source_sha256,
  arrived_us as lake_arrived_us,
  true as is_superseded
from lake
where source_sha256 = $origin_sha256 and source_line = $line_number
