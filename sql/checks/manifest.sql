-- name: checks/manifest
-- grain: one row
-- params: none
-- reads: ops.ingest_files, ops.lake_files
-- units: counts
-- why: conservation: what the manifest says was loaded is what the lake lists
with counted as (
  select
    (select coalesce(sum(loaded), 0)::bigint from ops.ingest_files) as n_loaded,
    (select coalesce(sum(n_requests), 0)::bigint from ops.lake_files) as n_in_lake
)

select
  n_loaded,
  n_in_lake,
  abs(n_loaded - n_in_lake) as n_not_in_lake,
  (
    select count(*)
    from ops.ingest_files
    where lines is not null and lines <> loaded + duplicates + quarantined + blank
  ) as n_unbalanced_files
from counted
