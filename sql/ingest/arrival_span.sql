-- name: ingest/arrival_span
-- grain: one row
-- params: none
-- reads: staged
-- units: microseconds since 1970-01-01T00:00:00Z, as read; digits of the number as logged
-- why: lines whose arrival was refused for being out of range; what is too large to be read shows in its digits alone
select
  min(arrived_us) as first_us,
  max(arrived_us) as last_us,
  count(*) - count(arrived_us) as n_unread,
  max(arrived_digits)::bigint as n_digits
from staged
where reason in ('timestamp_before_2020', 'timestamp_in_the_future', 'timestamp_not_understood')
