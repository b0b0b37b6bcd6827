-- name: ingest/found_paths
-- grain: path that leads somewhere in a line of the block
-- params: paths VARCHAR (a list of JSON pointers)
-- reads: lines
-- units: none
-- why: a column that a source declares must occur; a JSON null is an occurrence
select distinct wanted.path
from lines
cross join (select unnest($paths::varchar[]) as path) as wanted
where json_valid(line) and json_extract(line, wanted.path) is not null
