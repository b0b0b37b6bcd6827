-- name: curve/windows
-- grain: deployment
-- params: day_index BIGINT
-- reads: mart.throughput_curve
-- units: hours since the epoch; ratios
-- why: where the windows of the day's curves were cut, and models that no window can tell apart
select
  deployment,
  changed_at_hour,
  change_size,
  change_p_value,
  changed,
  model,
  model_since_hour,
  mixed_models
from mart.throughput_curve
where day_index = $day_index
order by deployment
