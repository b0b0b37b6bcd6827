-- name: ingest/key_lists
-- grain: list of keys, joined by the unit separator
-- params: none
-- reads: lines
-- units: none
-- why: producers write few different lists of keys, so a block is settled by looking at each list once
select distinct array_to_string(json_keys(line), chr(31)) as keys
from lines
where json_valid(line)
