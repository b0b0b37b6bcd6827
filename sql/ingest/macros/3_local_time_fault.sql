-- name: ingest/macros/3_local_time_fault
-- grain: scalar; instants is a list of instants_of_local; NULL when it is one, or NULL
-- params: none
-- reads: nothing
-- units: none
-- why: which of two hours a request belongs to is not guessed
create or replace temp macro local_time_fault(instants) as
  case
    when len(instants) > 1 then 'timestamp_ambiguous'
    when len(instants) = 0 then 'timestamp_never_occurred'
  end
