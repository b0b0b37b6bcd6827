-- name: valley/hours_to_judge
-- grain: deployment × hour
-- params: hour_index BIGINT, first_deployment VARCHAR, last_deployment VARCHAR (inclusive)
-- reads: mart.valley_status, mart.valley_episodes
-- units: ratios; money per hour
-- why: what the state machine reads, from an hour to the newest; of a deployment that is in an episode then, the episode's
--      earlier hours too, as they stand
select
  status.deployment,
  status.hour_index,
  status.p_in_valley,
  status.floor_hit_rate is not null as has_valley,
  status.regime,
  status.revenue_index,
  status.lost_per_hour,
  status.currency,
  status.state,
  status.is_in_valley,
  status.is_held,
  status.enter_streak,
  status.leave_streak
from mart.valley_status as status
left join mart.valley_episodes as episode
  on
    status.deployment = episode.deployment
    and episode.entered_hour_index < $hour_index
    and (episode.left_hour_index is null or episode.left_hour_index >= $hour_index)
where
  status.deployment between $first_deployment and $last_deployment
  and status.hour_index >= coalesce(episode.entered_hour_index, $hour_index)
order by status.deployment, status.hour_index
