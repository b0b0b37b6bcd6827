-- name: ingest/macros/2_latency_fault
-- grain: scalar; field is JSON milliseconds; NULL when it is a finite number from 0 to one day or not reported
-- params: none
-- reads: nothing
-- units: milliseconds
create or replace temp macro latency_fault(field) as
  case
    when is_absent(field) then null
    when
      regexp_full_match(field::varchar, '[0-9]+(\.[0-9]+)?') and try_cast(field::varchar as double) <= 86400000
      then null
    when json_type(field) not in ('UBIGINT', 'BIGINT', 'DOUBLE') then 'latency_is_not_a_number'
    when not isfinite(try_cast(field::varchar as double)) then 'latency_is_not_finite'
    when try_cast(field::varchar as double) < 0 then 'negative_latency'
    when try_cast(field::varchar as double) > 86400000 then 'latency_over_a_day'
  end
