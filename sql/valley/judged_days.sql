-- name: valley/judged_days
-- grain: day
-- params: none
-- reads: mart.valley_status
-- units: day_index
-- why: days that have verdicts
select distinct hour_index // 24 as day_index
from mart.valley_status
order by day_index
