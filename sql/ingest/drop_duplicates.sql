-- name: ingest/drop_duplicates
-- grain: statement
-- params: none
-- reads: fresh, clashes
-- units: none
-- why: what is left in fresh is what the file adds to the lake
delete from fresh
using clashes
where
  fresh.deployment = clashes.deployment
  and fresh.request_id = clashes.request_id
  and not clashes.is_superseded
