-- name: doctor/blocked_days
-- grain: day × contract × expectation
-- params: none
-- reads: ops.findings
-- units: day_index
-- why: days that a broken contract stopped, the newest first
select
  day_index,
  contract,
  expectation,
  detail
from ops.findings
where not passed and severity = 'block'
order by day_index desc, contract desc, expectation
