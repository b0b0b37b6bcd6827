-- name: ops/reread_file
-- grain: statement
-- params: content_sha256 VARCHAR, reading VARCHAR, n_loaded BIGINT, n_duplicates BIGINT, n_quarantined BIGINT
-- reads: ops.ingest_files
-- units: counts of lines
-- why: adds what a second reading rescued
update ops.ingest_files
set
  reading = $reading,
  loaded = loaded + $n_loaded,
  duplicates = duplicates + $n_duplicates,
  quarantined = $n_quarantined
where content_sha256 = $content_sha256
