-- name: views/valley_episodes
-- grain: episode
-- params: none
-- reads: mart.valley_episodes
-- units: ratios; money; hours with traffic
-- about: when deployments were in the valley, how deep, what it cost
-- why: left_at is NULL while the deployment is still in the valley; held hours count in n_hours alone: their depth and loss
--      are not known
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   entered_at: start of its first hour, UTC
--   left_at: start of the first hour after it, UTC; NULL = still in the valley
--   n_hours: hours with traffic in it [hours]
--   n_held_hours: those of them that said too little and held the state [hours]
--   peak_depth: largest 1 − revenue_index of its evaluated hours [1]
--   deepest_at: hour of that depth, UTC
--   lost_total: lost_per_hour added up over its evaluated hours [currency]; NULL = prices changed currency
--   currency: ISO 4217 code of all money in the row
--   policy_version: version of the policy that found it
--   dedup_key: key of the episode and of its alerts
--   notified_at: when somebody was told of it first, UTC; NULL = nobody yet
select
  deployment,
  make_timestamp(entered_hour_index * 3600000000) as entered_at,
  make_timestamp(left_hour_index * 3600000000) as left_at,
  n_hours,
  n_held_hours,
  peak_depth,
  make_timestamp(deepest_hour_index * 3600000000) as deepest_at,
  lost_total,
  currency,
  policy_version,
  dedup_key,
  make_timestamp(notified_us) as notified_at
from mart.valley_episodes
