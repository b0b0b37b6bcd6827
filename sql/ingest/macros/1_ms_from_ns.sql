-- name: ingest/macros/1_ms_from_ns
-- grain: scalar; field is JSON nanoseconds; what is no number passes through, to be refused by name
-- params: none
-- reads: nothing
-- units: nanoseconds in, milliseconds out
-- why: units belong to a producer's key: they are converted where the key is named
create or replace temp macro ms_from_ns(field) as
  case
    when json_type(field) in ('UBIGINT', 'BIGINT', 'DOUBLE') and isfinite(try_cast(field::varchar as double))
      then to_json(try_cast(field::varchar as double) / 1000000)
    else field
  end
