-- name: ingest/repeated_ids
-- grain: request that several lines of the staged file tell of
-- params: none
-- reads: staged
-- units: none
-- why: there are few or none, so that only these need be ranked
create or replace temp table repeated_ids as
select deployment, request_id
from staged
where reason is null
group by deployment, request_id
having count(*) > 1
