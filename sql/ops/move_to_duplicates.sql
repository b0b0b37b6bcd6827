-- name: ops/move_to_duplicates
-- grain: statement
-- params: none
-- reads: clashes, ops.ingest_files
-- units: counts of lines
-- why: a line that lost its place to an earlier record of the same request is a duplicate in its own file
update ops.ingest_files
set
  loaded = ingest_files.loaded - lost.n_lines,
  duplicates = ingest_files.duplicates + lost.n_lines
from (
  select source_sha256, count(*) as n_lines
  from clashes
  where is_superseded
  group by source_sha256
) as lost
where ingest_files.origin_sha256 = lost.source_sha256
