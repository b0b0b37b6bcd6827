-- name: report/covered
-- grain: one row
-- params: none
-- reads: mart.hourly_hit_rate
-- units: hour_index
-- why: the first and last hour with data
select min(hour_index) as first_hour, max(hour_index) as last_hour
from mart.hourly_hit_rate
