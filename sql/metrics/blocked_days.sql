-- name: metrics/blocked_days
-- grain: day
-- params: none
-- reads: ops.findings
-- units: day_index
-- why: days whose newest judgement a broken contract stopped: what is published of them is older than their logs
select distinct day_index
from ops.findings
where not passed and severity = 'block'
order by day_index
