-- name: ingest/macros/2_latency_us
-- grain: scalar; field is JSON milliseconds; NULL where it has a latency_fault that no number fits
-- params: none
-- reads: nothing
-- units: milliseconds in, microseconds out
-- why: latencies are stored as integer microseconds, the nearest one; no producer measures finer
create or replace temp macro latency_us(field) as
  try_cast(round(try_cast(field::varchar as double) * 1000) as bigint)
