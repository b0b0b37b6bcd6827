-- name: ingest/macros/2_ms_of_quantity
-- grain: scalar; unit is JSON text; NULL where the unit is none of time
-- params: none
-- reads: nothing
-- units: ns, us, ms, s (also written sec) in, milliseconds out
-- why: some producers write the unit beside every value: it is read, never assumed
create or replace temp macro ms_of_quantity(quantity, unit) as
  case unit ->> '$'
    when 'ns' then ms_from_ns(quantity)
    when 'us' then ms_from_us(quantity)
    when 'ms' then quantity
    when 's' then ms_from_s(quantity)
    when 'sec' then ms_from_s(quantity)
  end
