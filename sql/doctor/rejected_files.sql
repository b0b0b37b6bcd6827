-- name: doctor/rejected_files
-- grain: rejected file
-- params: since_us BIGINT
-- reads: ops.ingest_files
-- units: microseconds
-- why: files that were refused whole lately
select
  path,
  source_name,
  reason
from ops.ingest_files
where status = 'rejected' and loaded_us >= $since_us
order by loaded_us desc, path
