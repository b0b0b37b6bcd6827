-- name: ingest/survivors_of_file
-- grain: request
-- params: file VARCHAR
-- reads: lake, clashes
-- units: tokens; microseconds
-- why: a file of the lake without the records that lost their place
select * exclude (filename)
from lake
where
  ends_with(lake.filename, '/' || $file)
  and not exists (
    select 1 from clashes
    where
      clashes.is_superseded
      and clashes.deployment = lake.deployment
      and clashes.request_id = lake.request_id
  )
