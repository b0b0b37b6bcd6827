-- name: ops/reread_file
-- grain: statement
-- params: content_sha256 VARCHAR, reading VARCHAR, format VARCHAR, n_lines BIGINT, n_blank BIGINT, n_loaded BIGINT,
--         n_quarantined BIGINT
-- reads: ops.ingest_files
-- units: counts of lines
-- why: adds what a second reading rescued; what is neither loaded, refused nor blank is a duplicate
update ops.ingest_files
set
  reading = $reading,
  format = $format,
  lines = $n_lines,
  loaded = loaded + $n_loaded,
  duplicates = $n_lines - $n_blank - $n_quarantined - loaded - $n_loaded,
  quarantined = $n_quarantined,
  blank = $n_blank
where content_sha256 = $content_sha256
