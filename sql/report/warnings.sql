-- name: report/warnings
-- grain: expectation
-- params: none
-- reads: ops.findings
-- units: day_index
-- why: what the newest judged day was found to lack
select
  day_index,
  contract,
  expectation,
  detail
from ops.findings
where not passed and day_index = (select max(day_index) from ops.findings)
order by contract desc, expectation
