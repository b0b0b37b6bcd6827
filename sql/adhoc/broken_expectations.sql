-- name: adhoc/broken_expectations
-- grain: contract × severity
-- params: days BIGINT = 7 (up to the newest checked day)
-- reads: check_findings
-- units: expectations
-- question: Is the data what it should be?
-- why: a broken block stopped its day, a broken warn is only told
-- comments:
--   contract: what was checked
--   severity: block or warn
--   n_checked: expectations over all days
--   n_broken: those that did not hold
--   last_broken_day: the newest day with one; NULL = none
--   example: what was found, of one of them
with newest as (
  select max(day_utc) as day_utc
  from check_findings
)

select
  findings.contract,
  findings.severity,
  count(*) as n_checked,
  sum(case when findings.passed then 0 else 1 end) as n_broken,
  max(case when not findings.passed then findings.day_utc end) as last_broken_day,
  max(case when not findings.passed then findings.expectation || ': ' || findings.detail end) as example
from check_findings as findings
cross join newest
where findings.day_utc > newest.day_utc - cast($days as integer)
group by findings.contract, findings.severity
order by n_broken desc, findings.contract asc, findings.severity asc
limit 8
