-- name: views/check_findings
-- grain: day × contract × expectation
-- params: none
-- reads: ops.findings
-- units: none
-- about: whether each day's requests and marts are what they should be
-- why: a breach of severity block stopped its day, one of severity warn is only told
-- comments:
--   day_utc: UTC date that was checked
--   contract: what was checked: requests, a mart, curves
--   expectation: what was expected, in words
--   severity: block (a breach stops the day) or warn
--   passed: whether it held
--   detail: what was found instead
select
  make_date(day_index::integer) as day_utc,
  contract,
  expectation,
  severity,
  passed,
  detail
from ops.findings
