-- name: ingest/macros/3_token_greatest
-- grain: scalar; counts is a list of JSON; the greatest that is reported; a faulty one passes through
-- params: none
-- reads: nothing
-- units: tokens
-- why: proxies copy one count under several names and leave some of the copies at 0 (litellm#11789); mostly there is one
create or replace temp macro token_greatest(counts) as
  case
    when list_max(counts) is not distinct from list_min(counts) then list_max(counts)
    else coalesce(
      list_filter(counts, lambda count: token_fault(count) is not null)[1],
      to_json(list_max(list_transform(counts, lambda count: token_count(count))))
    )
  end
