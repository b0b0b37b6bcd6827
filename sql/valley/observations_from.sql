-- name: valley/observations_from
-- grain: deployment × hour
-- params: hour_index BIGINT
-- reads: mart.valley_status
-- units: ratios
-- why: what the state machine reads, from an hour to the newest
select
  deployment,
  hour_index,
  p_in_valley,
  floor_hit_rate is not null as has_valley,
  regime
from mart.valley_status
where hour_index >= $hour_index
order by deployment, hour_index
