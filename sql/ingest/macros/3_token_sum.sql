-- name: ingest/macros/3_token_sum
-- grain: scalar; each argument is JSON; absent ones count as nothing unless all are; a faulty one passes through
-- params: none
-- reads: nothing
-- units: tokens
-- why: for producers that report computed, cached and written prompt tokens apart; a fault must be named, not summed
create or replace temp macro token_sum(a, b, c) as
  case
    when token_fault(a) is not null then a
    when token_fault(b) is not null then b
    when token_fault(c) is not null then c
    when is_absent(a) and is_absent(b) and is_absent(c) then null
    else to_json(coalesce(token_count(a), 0) + coalesce(token_count(b), 0) + coalesce(token_count(c), 0))
  end
