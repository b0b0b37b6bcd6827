-- name: curve/deployments
-- grain: deployment
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.hourly_hit_rate
-- units: tokens; hours since the epoch
-- why: deployments with traffic in the window, since when, and how much of it reports cached tokens; only those with
--      traffic on the window's last day, so that a curve belongs to a day that it can be used for
select
  deployment,
  min(hour_index) as first_hour,
  sum(n_requests)::bigint as n_requests,
  sum(n_reported)::bigint as n_reported,
  sum(n_rated)::bigint as n_rated,
  sum(reported_input_tokens)::bigint as reported_input_tokens
from mart.hourly_hit_rate
where hour_index between $first_hour and $last_hour
group by deployment
having max(hour_index) > $last_hour - 24
order by deployment
