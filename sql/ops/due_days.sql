-- name: ops/due_days
-- grain: day with data
-- params: first_day BIGINT (inclusive), before_day BIGINT (exclusive)
-- reads: ops.dirty_days, ops.dirty_hours, ops.days_to_close, ops.lake_files, ops.findings
-- units: day_index
-- why: what a tick asks for; run on a snapshot, whose marks are those of its publication
select
  due.day_index,
  coalesce(bool_or(findings.severity = 'block' and not findings.passed), false) as is_blocked
from (
  select day_index from ops.dirty_days
  union
  select day_index from ops.days_to_close
  union
  select hour_index // 24 as day_index
  from ops.dirty_hours
  where mart = 'valley_status'
) as due
inner join (
  select day_index from ops.lake_files
  union
  select last_day_index as day_index from ops.lake_files
) as days on due.day_index = days.day_index
left join ops.findings as findings on due.day_index = findings.day_index
where due.day_index >= $first_day and due.day_index < $before_day
group by due.day_index
order by due.day_index
