-- name: ingest/any_repeated_id
-- grain: one row or none
-- params: none
-- reads: repeated_ids
-- units: none
-- why: most files repeat no identity
select request_id
from repeated_ids
limit 1
