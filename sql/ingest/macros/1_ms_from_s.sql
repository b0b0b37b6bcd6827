-- name: ingest/macros/1_ms_from_s
-- grain: scalar; field is JSON seconds; what is no number passes through, to be refused by name
-- params: none
-- reads: nothing
-- units: seconds in, milliseconds out
-- why: units belong to a producer's key: they are converted where the key is named
create or replace temp macro ms_from_s(field) as
  case
    when json_type(field) in ('UBIGINT', 'BIGINT', 'DOUBLE') and isfinite(try_cast(field::varchar as double))
      then to_json(try_cast(field::varchar as double) * 1000)
    else field
  end
