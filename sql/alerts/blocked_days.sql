-- name: alerts/blocked_days
-- grain: day
-- params: none
-- reads: ops.findings
-- units: day_index
-- why: days that a broken contract stopped, and the first of its breaches in words
select
  day_index,
  count(*) as n_breaches,
  min(contract || ': ' || expectation || ' (' || detail || ')') as first_breach
from ops.findings
where severity = 'block' and not passed
group by day_index
order by day_index
