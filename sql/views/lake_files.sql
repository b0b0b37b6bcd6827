-- name: views/lake_files
-- grain: Parquet file of the lake
-- params: none
-- reads: ops.lake_files
-- units: requests; bytes
-- about: the Parquet files that hold the requests, for programs that read them themselves
-- why: the folder may hold files that are not part of this snapshot; what is listed is, and each request is in one of them.
--      A file whose requests other logs have replaced holds none and is not listed
-- comments:
--   file: path below the warehouse's folder
--   day_utc: UTC date of arrival of its requests
--   n_requests: requests in it [requests]
--   size_bytes: its size [bytes]
--   sha256: SHA-256 of its bytes
select
  file,
  make_date(day_index::integer) as day_utc,
  n_requests,
  size_bytes,
  sha256
from ops.lake_files
where n_requests > 0
