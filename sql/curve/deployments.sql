-- name: curve/deployments
-- grain: deployment
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.hourly_hit_rate
-- units: tokens
-- why: deployments with traffic in the window, and how much of it reports cached tokens; none where the window's last
--      day has no request at all, so that a day which lost its requests to earlier records leaves no curve behind
select
  deployment,
  sum(n_requests)::bigint as n_requests,
  sum(n_reported)::bigint as n_reported,
  sum(n_rated)::bigint as n_rated,
  sum(reported_input_tokens)::bigint as reported_input_tokens
from mart.hourly_hit_rate
where
  hour_index between $first_hour and $last_hour
  and exists (
    select 1 from mart.hourly_hit_rate
    where hour_index between $last_hour - 23 and $last_hour
  )
group by deployment
order by deployment
