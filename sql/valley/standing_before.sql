-- name: valley/standing_before
-- grain: deployment
-- params: hour_index BIGINT
-- reads: mart.valley_status
-- units: hours
-- why: where the state machine stood before an hour
select
  deployment,
  state,
  is_in_valley,
  is_held,
  enter_streak,
  leave_streak
from mart.valley_status
where hour_index < $hour_index
qualify row_number() over (partition by deployment order by hour_index desc) = 1
order by deployment
