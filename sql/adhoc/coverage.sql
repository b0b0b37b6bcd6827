-- name: adhoc/coverage
-- grain: deployment
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: hourly_hit_rate
-- units: share in [0, 1]
-- question: Which deployments do not report their cached tokens?
-- why: NULL is not 0: a request that reports nothing is in no hit rate
-- comments:
--   deployment: whom it is about
--   n_requests: successful ones
--   n_reported: that report cached tokens
--   coverage: their share
--   lowest_coverage: of an hour
--   n_left_out: warm-ups, health checks and what has no time
with newest as (
  select max(hour_utc) as hour_utc
  from hourly_hit_rate
)

select
  hourly.deployment,
  sum(hourly.n_requests) as n_requests,
  sum(hourly.n_reported) as n_reported,
  sum(hourly.n_reported) / nullif(sum(hourly.n_requests), 0) as coverage,
  min(hourly.coverage) as lowest_coverage,
  sum(hourly.n_left_out) as n_left_out
from hourly_hit_rate as hourly
cross join newest
where hourly.hour_utc > newest.hour_utc - to_days(cast($days as integer))
group by hourly.deployment
order by coverage, hourly.deployment
