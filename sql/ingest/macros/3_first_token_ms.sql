-- name: ingest/macros/3_first_token_ms
-- grain: scalar; the arguments are JSON, time stamps as text; NULL when the first token came with the end
-- params: none
-- reads: nothing
-- units: milliseconds
-- why: of a response that is not streamed these producers write the end as the moment of its first token
create or replace temp macro first_token_ms(beginning, first_token, ending) as
  case
    when moment(first_token) = moment(ending) then null
    else ms_between(beginning, first_token)
  end
