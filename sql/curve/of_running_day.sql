-- name: curve/of_running_day
-- grain: deployment
-- params: day_index BIGINT
-- reads: mart.throughput_curve
-- units: day_index
-- why: whose curve of a running day may be kept
select
  deployment,
  trustworthy
from mart.throughput_curve
where day_index = $day_index
order by deployment
