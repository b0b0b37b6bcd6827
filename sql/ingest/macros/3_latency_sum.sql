-- name: ingest/macros/3_latency_sum
-- grain: scalar; both are JSON milliseconds; not reported unless both are; a faulty one passes through
-- params: none
-- reads: nothing
-- units: milliseconds
-- why: for producers that report the consecutive parts of a duration; a fault must be named, not summed
create or replace temp macro latency_sum(a, b) as
  case
    when latency_fault(a) is not null then a
    when latency_fault(b) is not null then b
    when is_absent(a) or is_absent(b) then null
    else to_json(try_cast(a::varchar as double) + try_cast(b::varchar as double))
  end
