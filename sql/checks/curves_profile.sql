-- name: checks/curves_profile
-- grain: deployment
-- params: day_index BIGINT
-- reads: mart.curve_candidates
-- units: counts of estimators
-- why: trustworthy estimators of one curve whose 90 % intervals of the slope a do not meet that of the chosen one. Of tps0
--      nothing is expected: the level of an envelope is that of the fastest requests
select
  chosen.deployment,
  max(chosen.estimator || ' of ' || chosen.target) as chosen,
  string_agg(candidate.estimator || ' of ' || candidate.target, ', ' order by candidate.target)
    filter (where candidate.a_low > chosen.a_high or candidate.a_high < chosen.a_low) as apart,
  count(*) filter (where candidate.a_low > chosen.a_high or candidate.a_high < chosen.a_low)::bigint as n_curves_apart
from mart.curve_candidates as chosen
inner join mart.curve_candidates as candidate
  on chosen.deployment = candidate.deployment and chosen.day_index = candidate.day_index
where chosen.day_index = $day_index and chosen.is_chosen and chosen.trustworthy and candidate.trustworthy
group by chosen.deployment
order by chosen.deployment
