-- name: ops/stale_days
-- grain: day
-- params: first_day BIGINT, last_day BIGINT (inclusive)
-- reads: ops.dirty_hours, ops.lake_files
-- units: day_index, hour_index
-- why: days with data whose marts no longer follow from the lake: no curve may be fitted on them
select hours.hour_index // 24 as day_index
from ops.dirty_hours as hours
inner join (
  select day_index from ops.lake_files
  union
  select last_day_index as day_index from ops.lake_files
) as days on hours.hour_index // 24 = days.day_index
where
  hours.mart in ('hourly_hit_rate', 'hit_rate_histogram', 'busy_periods')
  and hours.hour_index // 24 between $first_day and $last_day
group by hours.hour_index // 24
order by day_index
