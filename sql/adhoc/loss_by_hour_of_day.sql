-- name: adhoc/loss_by_hour_of_day
-- grain: three hours of the day × currency
-- params: deployment VARCHAR = % (like pattern)
-- reads: profit_and_loss
-- units: money in currency
-- question: At which time of day do hits lose the most?
-- comments:
--   from_hour: first hour of the day, UTC, of three
--   n_hours: deployment-hours in which it is known
--   earned: by the hours whose hits earned
--   lost: by those whose hits cost money
--   cache_value: earned less lost
--   currency: of the amounts
select
  cast(extract(hour from hour_utc) as integer) // 3 * 3 as from_hour,
  count(*) as n_hours,
  sum(case when cache_value > 0 then cache_value else 0 end) as earned,
  sum(case when cache_value < 0 then -cache_value else 0 end) as lost,
  sum(cache_value) as cache_value,
  currency
from profit_and_loss
where deployment like $deployment and cache_value is not null
group by cast(extract(hour from hour_utc) as integer) // 3 * 3, currency
order by from_hour, currency
