-- name: ingest/macros/1_otlp_integer
-- grain: scalar; field is JSON; an integer written as text becomes one, everything else passes through
-- params: none
-- reads: nothing
-- units: none
-- why: OTLP's JSON encoding writes 64-bit integers as text; only where it declares one may text become a number
create or replace temp macro otlp_integer(field) as
  case
    when json_type(field) = 'VARCHAR' and regexp_full_match(field ->> '$', '-?(0|[1-9][0-9]*)') then (field ->> '$')::json
    else field
  end
