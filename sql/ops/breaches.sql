-- name: ops/breaches
-- grain: expectation
-- params: day_index BIGINT
-- reads: ops.findings
-- units: day_index
-- why: what stopped a day
select
  contract,
  expectation,
  detail
from ops.findings
where day_index = $day_index and not passed and severity = 'block'
order by contract desc, expectation
