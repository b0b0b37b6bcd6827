-- name: ingest/superseded_files
-- grain: Parquet file
-- params: none
-- reads: clashes, ops.lake_files
-- units: none
-- why: files of the lake that hold a record which lost its place
select
  lake_files.file,
  lake_files.sha256,
  lake_files.day_index,
  max(lake_files.last_day_index) as last_day_index,
  max(lake_files.n_requests) - count(*) as n_requests
from clashes
inner join ops.lake_files as lake_files on ends_with(clashes.filename, '/' || lake_files.file)
where clashes.is_superseded
group by lake_files.file, lake_files.sha256, lake_files.day_index
order by lake_files.file
