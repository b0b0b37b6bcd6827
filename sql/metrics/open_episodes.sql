-- name: metrics/open_episodes
-- grain: deployment
-- params: none
-- reads: mart.valley_episodes
-- units: hour_index
-- why: since when those in the valley are in it
select deployment, max(entered_hour_index) as entered_hour_index
from mart.valley_episodes
where left_hour_index is null
group by deployment
order by deployment
