-- name: ingest/whole_lake
-- grain: request
-- params: none
-- reads: lake
-- units: tokens; microseconds
-- why: files of the lake as one
select * exclude (filename)
from lake
