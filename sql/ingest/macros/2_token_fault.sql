-- name: ingest/macros/2_token_fault
-- grain: scalar; field is JSON; NULL when the field is an integer from 0 to 10,000,000 or not reported
-- params: none
-- reads: nothing
-- units: tokens
-- why: a count is never rounded, coerced from text or clamped; 10,000,000 is far above any context window. The first
--      branch settles every good count, so that parsing the value again is left to the few others
create or replace temp macro token_fault(field) as
  case
    when is_absent(field) or regexp_full_match(field::varchar, '[0-9]{1,7}') then null
    when json_type(field) not in ('UBIGINT', 'BIGINT', 'DOUBLE') then 'token_count_is_not_a_number'
    when starts_with(field::varchar, '-') then 'negative_token_count'
    when not regexp_full_match(field::varchar, '[0-9]+') then 'decimal_token_count'
    when length(field::varchar) > 8 or try_cast(field::varchar as bigint) > 10000000 then 'token_count_too_large'
  end
