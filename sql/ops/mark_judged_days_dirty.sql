-- name: ops/mark_judged_days_dirty
-- grain: day
-- params: none
-- reads: mart.valley_status
-- units: day_index
-- why: days whose verdicts rest on prices or a policy that changed
select distinct hour_index // 24 as day_index
from mart.valley_status
