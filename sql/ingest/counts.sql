-- name: ingest/counts
-- grain: one row
-- params: none
-- reads: staged, fresh
-- units: counts of lines
-- why: lines that were read = loaded + duplicates + quarantined
select
  (select count(*) from staged) as n_lines,
  (select count(*) from staged where reason is not null) as n_quarantined,
  (select count(*) from fresh) as n_loaded
