-- name: ingest/drop_known
-- grain: statement
-- params: none
-- reads: staged, clashes
-- units: none
-- why: what is left without a reason is what the file adds to the lake
delete from staged
using clashes
where
  staged.reason is null
  and staged.deployment = clashes.deployment
  and staged.request_id = clashes.request_id
  and not clashes.is_superseded
