-- name: adhoc/held_hours
-- grain: deployment × reasons
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: valley_status
-- units: hours
-- question: How many hours were held, and why?
-- why: a held hour keeps the state of the one before it; a deployment of which none was held has one row, without
--      reasons
-- comments:
--   deployment: whom it is about
--   reasons: codes of why, as `valleywatch status` words them; NULL = none was held
--   n_held: hours held for these reasons
--   n_hours: all of the deployment's hours
--   last_held_hour_utc: the newest of the held ones
with newest as (
  select max(hour_utc) as hour_utc
  from valley_status
),

recent as (
  select
    status.deployment,
    status.hour_utc,
    case when status.is_held then status.reasons end as reasons,
    status.is_held,
    count(*) over (partition by status.deployment) as n_hours,
    sum(case when status.is_held then 1 else 0 end) over (partition by status.deployment) as n_held
  from valley_status as status
  cross join newest
  where status.hour_utc > newest.hour_utc - to_days(cast($days as integer))
)

select
  deployment,
  reasons,
  sum(case when is_held then 1 else 0 end) as n_held,
  max(n_hours) as n_hours,
  max(case when is_held then hour_utc end) as last_held_hour_utc
from recent
where is_held or n_held = 0
group by deployment, reasons
order by n_held desc, deployment asc, reasons asc
limit 8
