-- name: ingest/repeated_keys
-- grain: list of keys that repeats one
-- params: none
-- reads: lines
-- units: none
-- why: producers write few different lists of keys, so a block is settled by looking at each list once
select keys
from (
  select distinct json_keys(line) as keys
  from lines
  where json_valid(line)
) as shapes
where len(keys) <> list_unique(keys)
