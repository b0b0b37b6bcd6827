-- name: ingest/rejects
-- grain: reason
-- params: none
-- reads: staged
-- units: counts of lines
-- why: why lines of the staged file were refused
select reason, count(*) as n_lines
from staged
where reason is not null
group by reason
order by n_lines desc, reason
