-- name: curve/trusted_of_day
-- grain: deployment
-- params: day_index BIGINT
-- reads: mart.throughput_curve
-- units: day_index
-- why: whose curve of a running day is kept
select deployment
from mart.throughput_curve
where day_index = $day_index and trustworthy
order by deployment
