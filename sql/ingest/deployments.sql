-- name: ingest/deployments
-- grain: deployment
-- params: n_most BIGINT
-- reads: staged
-- units: none
-- why: how many a file names, and which, up to a number
select deployment
from staged
where reason is null
group by deployment
order by deployment
limit $n_most
