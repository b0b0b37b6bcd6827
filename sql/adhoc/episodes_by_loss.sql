-- name: adhoc/episodes_by_loss
-- grain: episode
-- params: none
-- reads: valley_episodes
-- units: hours; money in currency; depth in [0, 1]
-- question: When were deployments in the valley, and what did it cost?
-- comments:
--   deployment: whom it is about
--   entered_at: first hour, UTC
--   left_at: first hour out of it, UTC; NULL = still in it
--   n_hours: with traffic
--   n_held_hours: those of them that could not be evaluated
--   peak_depth: share of revenue per busy second lost in the worst hour
--   lost_total: in the evaluated hours
--   currency: of the loss
select
  deployment,
  entered_at,
  left_at,
  n_hours,
  n_held_hours,
  peak_depth,
  lost_total,
  currency
from valley_episodes
order by lost_total desc nulls last, deployment asc, entered_at asc
limit 8
