-- name: metrics/refused
-- grain: one row
-- params: none
-- reads: ops.ingest_files
-- units: counts
-- why: what was refused of the files read in the 24 hours before the newest reading. The manifest's own clock counts, so
--      that a snapshot says the same whenever it is asked; a log that grows keeps one row and counts whole
with newest as (
  select max(loaded_us) as loaded_us
  from ops.ingest_files
)

select
  coalesce(sum(file.quarantined), 0) as quarantined_lines,
  count(case when file.status = 'rejected' then 1 end) as rejected_files
from ops.ingest_files as file
inner join newest on file.loaded_us > newest.loaded_us - 86400000000
