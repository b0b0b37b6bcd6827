-- name: ingest/withdrawn
-- grain: one row
-- params: none
-- reads: clashes
-- units: counts of lines
-- why: how many records were withdrawn by ingest/withdraw
select count(*) as n_withdrawn
from clashes
where is_superseded and source_sha256 is null
