-- name: ingest/macros/4_is_exclusive
-- grain: scalar; counts are JSON; true when input leaves out the cached and the written tokens; never NULL
-- params: none
-- reads: nothing
-- units: tokens
-- why: vendors that report reads and writes apart mean an input without them, proxies in front of them often one with them:
--      what cannot be part of the input is not, else a total that adds up one way decides, else the vendor's rule
create or replace temp macro is_exclusive(input, cached, written, output, total, by_rule) as
  case
    when token_fault(input) is not null or token_fault(token_sum(cached, written, output)) is not null then by_rule
    when coalesce(token_count(cached), 0) + coalesce(token_count(written), 0) > token_count(input) then true
    when token_fault(total) is not null or is_absent(total) then by_rule
    when token_count(total) = token_count(input) + coalesce(token_count(output), 0) then false
    when token_count(total) = token_count(token_sum(token_sum(input, cached, written), output, null)) then true
    else by_rule
  end
