-- name: report/draws_of_day
-- grain: draw
-- params: deployment VARCHAR, day_index BIGINT
-- reads: mart.curve_draws
-- units: seconds per request, token, token² and token
-- why: the bootstrap draws of one curve
select f, c, q, k
from mart.curve_draws
where deployment = $deployment and day_index = $day_index
order by draw
