-- name: valley/draws
-- grain: deployment × draw
-- params: day_index BIGINT
-- reads: mart.curve_draws
-- units: seconds
-- why: the day's bootstrap draws
select deployment, f, c, q, k
from mart.curve_draws
where day_index = $day_index
order by deployment, draw
