-- name: valley/set_states
-- grain: statement
-- params: none
-- reads: standings, mart.valley_status
-- units: none
-- why: the state machine runs on to the newest hour; what was observed stays as it is
update mart.valley_status
set
  state = standings.state,
  reasons = case
    when standings.state = 'unknown' and valley_status.reasons = '' then 'undecided'
    when standings.state <> 'unknown' and valley_status.reasons = 'undecided' then ''
    else valley_status.reasons
  end,
  is_in_valley = standings.is_in_valley,
  is_held = standings.is_held,
  enter_streak = standings.enter_streak,
  leave_streak = standings.leave_streak
from standings
where valley_status.deployment = standings.deployment and valley_status.hour_index = standings.hour_index
