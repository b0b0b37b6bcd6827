-- name: doctor/sources
-- grain: source
-- params: none
-- reads: ops.ingest_files
-- units: microseconds
-- why: when something new of a source was last loaded; a log that grows keeps one row, which says when it last grew
select
  source_name,
  max(case when loaded > 0 then loaded_us end) as last_loaded_us
from ops.ingest_files
group by source_name
order by source_name
