-- name: ingest/macros/5_usage_input
-- grain: scalar; counts is a struct of usage_counts; the input as JSON, cached and written tokens included
-- params: none
-- reads: nothing
-- units: tokens
-- why: a struct's counts are only summed where the vendor's keys allow that its input leaves tokens out
create or replace temp macro usage_input(counts) as
  case
    when (counts).may_be_exclusive or is_declared_exclusive()
      then input_with_cached(
        (counts).input,
        (counts).cached,
        (counts).written,
        (counts).output,
        (counts).total,
        not (counts).is_inclusive_by_rule
      )
    else (counts).input
  end
