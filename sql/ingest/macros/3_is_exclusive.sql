-- name: ingest/macros/3_is_exclusive
-- grain: scalar; counts are JSON; true when input leaves out the cached and the written tokens; never NULL
-- params: none
-- reads: nothing
-- units: tokens
-- why: vendors that report reads and writes apart mean an input without them, proxies in front of them often one with them:
--      what the source declares holds, else what cannot be part of the input is not, else a total that adds up one way decides, else the vendor's rule
create or replace temp macro is_exclusive(input, cached, written, output, total, by_rule) as
  case
    when coalesce(token_fault(input), token_fault(cached), token_fault(written), token_fault(output)) is not null
      then by_rule
    when getvariable('input_tokens') is not null then is_declared_exclusive()
    when coalesce(token_count(cached), 0) + coalesce(token_count(written), 0) > token_count(input) then true
    when is_absent(total) or token_fault(total) is not null then by_rule
    when token_count(total) = token_count(input) + coalesce(token_count(output), 0) then false
    when
      token_count(total) = token_count(input) + coalesce(token_count(cached), 0) + coalesce(token_count(written), 0)
      + coalesce(token_count(output), 0)
      then true
    else by_rule
  end
