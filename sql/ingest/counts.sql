-- name: ingest/counts
-- grain: one row
-- params: none
-- reads: staged
-- units: counts of lines
-- why: what the staging table holds
select
  count(*) as n_lines,
  count(reason) as n_quarantined
from staged
