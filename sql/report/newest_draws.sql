-- name: report/newest_draws
-- grain: deployment × draw
-- params: none
-- reads: mart.curve_draws
-- units: seconds
-- why: the newest curve's bootstrap draws
select
  deployment,
  f,
  c,
  q,
  k
from mart.curve_draws
qualify dense_rank() over (partition by deployment order by day_index desc) = 1
order by deployment, draw
