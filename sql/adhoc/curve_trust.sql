-- name: adhoc/curve_trust
-- grain: deployment
-- params: none
-- reads: throughput_curve
-- units: tokens/s; hit rates; slope [1]
-- question: Which curves are trusted, and why not the others?
-- comments:
--   deployment: whom it is about
--   day_utc: of its newest curve
--   estimator: what it rests on
--   a: slope
--   a_low: lower end of its 90 % interval
--   a_high: upper end
--   x_low: hit rates it was measured between
--   x_high: hit rates it was measured between
--   trustworthy: no verdict follows from one that is not
--   reasons: codes of why not
with newest as (
  select
    deployment,
    day_utc,
    estimator,
    a,
    a_low,
    a_high,
    x_low,
    x_high,
    trustworthy,
    reasons,
    row_number() over (partition by deployment order by day_utc desc) as age
  from throughput_curve
)

select
  deployment,
  day_utc,
  estimator,
  a,
  a_low,
  a_high,
  x_low,
  x_high,
  trustworthy,
  reasons
from newest
where age = 1
order by trustworthy, deployment
