-- name: report/quarantined
-- grain: reason
-- params: none
-- reads: ops.quarantine
-- units: counts
-- why: what was refused, by reason
select reason, count(*) as n_lines
from ops.quarantine
group by reason
order by n_lines desc, reason
