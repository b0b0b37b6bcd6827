-- name: ingest/touched_hours
-- grain: hour
-- params: none
-- reads: staged, clashes
-- units: hour_index
-- why: hours that gain or lose a request
select arrived_us // 3600000000 as hour_index
from staged
where reason is null
union
select lake_arrived_us // 3600000000 as hour_index
from clashes
where is_superseded
order by hour_index
