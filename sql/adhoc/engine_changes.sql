-- name: adhoc/engine_changes
-- grain: deployment
-- params: none
-- reads: throughput_curve
-- units: tokens/s; change_size is the relative difference of throughput
-- question: What changed after an engine upgrade, if there was one?
-- why: the newest curve beside the newest one of before the change; both NULL where no change is seen in the
--      trailing window
-- comments:
--   deployment: whom it is about
--   changed_at_hour: first hour of the changed engine, UTC; NULL = none is seen
--   changed: level, slope or both; NULL = no change
--   change_size: how much more throughput; NULL = no change
--   tps0_before: of the newest trusted curve before it
--   tps0: of the newest curve
--   a_before: slope before
--   a: slope now
--   model: that is served now; NULL = not logged
with newest as (
  select
    deployment,
    day_utc,
    changed_at_hour,
    changed,
    change_size,
    tps0,
    a,
    model,
    row_number() over (partition by deployment order by day_utc desc) as age
  from throughput_curve
),

earlier as (
  select
    newest.deployment,
    curve.tps0,
    curve.a,
    row_number() over (partition by newest.deployment order by curve.day_utc desc) as age
  from newest
  inner join throughput_curve as curve
    on newest.deployment = curve.deployment and curve.day_utc < cast(newest.changed_at_hour as date)
  where newest.age = 1 and curve.trustworthy
)

select
  newest.deployment,
  newest.changed_at_hour,
  newest.changed,
  newest.change_size,
  earlier.tps0 as tps0_before,
  newest.tps0,
  earlier.a as a_before,
  newest.a,
  newest.model
from newest
left join earlier on newest.deployment = earlier.deployment and earlier.age = 1
where newest.age = 1
order by newest.deployment
