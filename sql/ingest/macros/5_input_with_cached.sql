-- name: ingest/macros/5_input_with_cached
-- grain: scalar; counts are JSON; the input, cached and written tokens included; NULL when no input is reported
-- params: none
-- reads: nothing
-- units: tokens
-- why: see 4_is_exclusive
create or replace temp macro input_with_cached(input, cached, written, output, total, by_rule) as
  case
    when is_absent(input) then null
    when is_exclusive(input, cached, written, output, total, by_rule) then token_sum(input, cached, written)
    else input
  end
