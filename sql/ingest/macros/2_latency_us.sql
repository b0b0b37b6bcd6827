-- name: ingest/macros/2_latency_us
-- grain: scalar; field is JSON milliseconds without a latency_fault
-- params: none
-- reads: nothing
-- units: milliseconds in, microseconds out
-- why: latencies are stored as integer microseconds, the nearest one; no producer measures finer
create or replace temp macro latency_us(field) as
  case when not is_absent(field) then round(try_cast(field::varchar as double) * 1000)::bigint end
