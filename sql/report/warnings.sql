-- name: report/warnings
-- grain: expectation
-- params: none
-- reads: ops.findings
-- units: day_index
-- why: what the newest judged day was found to lack; and the newest day, of n_days, that keeps prices which the rows no longer
--      say: days long past, which nobody would look at
with told as (
  select
    day_index,
    contract,
    expectation,
    detail,
    case when contract = 'prices' then count(*) over (partition by contract, expectation) else 1 end as n_days,
    case
      when contract = 'prices' then max(day_index) over (partition by contract, expectation)
      else (select max(day_index) from ops.findings)
    end as told_day_index
  from ops.findings
  where not passed
)

select
  day_index,
  contract,
  expectation,
  detail,
  n_days
from told
where day_index = told_day_index
order by contract desc, expectation
