-- name: valley/days_to_judge
-- grain: day
-- params: day_index BIGINT
-- reads: ops.dirty_days, ops.dirty_hours, mart.valley_status
-- units: day_index
-- why: judged days after this one that are to be judged again; a marked day without verdicts may have no traffic and so
--      never be judged
select distinct hour_index // 24 as day_index
from mart.valley_status
where
  hour_index // 24 > $day_index
  and hour_index // 24 in (
    select day_index
    from ops.dirty_days
    union
    select hour_index // 24
    from ops.dirty_hours
    where mart = 'valley_status'
  )
order by day_index
