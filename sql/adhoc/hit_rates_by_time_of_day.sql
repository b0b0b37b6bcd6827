-- name: adhoc/hit_rates_by_time_of_day
-- grain: band of request hit rates
-- params: first_hour BIGINT = 2 (hour of the day, UTC), second_hour BIGINT = 14, deployment VARCHAR = % (like
--      pattern)
-- reads: hit_rate_histogram
-- units: shares in [0, 1] of the requests of that hour of the day
-- question: How are request hit rates distributed at 02:00 against 14:00?
-- why: the bins of the histogram are finer; here they are added up to fifths, and exact 1 stands on its own
-- comments:
--   from_hit_rate: the band's lower end, included
--   to_hit_rate: its upper end, not included unless both are the same
--   n_first: requests at the first hour of day, all days
--   share_first: of the requests at that hour
--   n_second: requests at the second
--   share_second: of the requests at that hour
with banded as (
  select
    case when bin_low = 1 then 5 else cast(floor(bin_low * 5) as integer) end as band,
    sum(case when extract(hour from hour_utc) = $first_hour then n_requests else 0 end) as n_first,
    sum(case when extract(hour from hour_utc) = $second_hour then n_requests else 0 end) as n_second
  from hit_rate_histogram
  where deployment like $deployment
  group by case when bin_low = 1 then 5 else cast(floor(bin_low * 5) as integer) end
)

select
  band / 5 as from_hit_rate,
  least(band + 1, 5) / 5 as to_hit_rate,
  n_first,
  n_first / nullif(sum(n_first) over (), 0) as share_first,
  n_second,
  n_second / nullif(sum(n_second) over (), 0) as share_second
from banded
order by band
