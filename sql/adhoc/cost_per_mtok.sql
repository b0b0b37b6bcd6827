-- name: adhoc/cost_per_mtok
-- grain: three hours of the day × currency
-- params: deployment VARCHAR = % (like pattern)
-- reads: profit_and_loss, hourly_hit_rate
-- units: money in currency per million tokens, prompt and output ones together
-- question: What does a million tokens cost to serve, by time of day?
-- why: hours of which the cost of the instances is known; fewer tokens at night bear the same instances
-- comments:
--   from_hour: first hour of the day, UTC, of three
--   n_hours: deployment-hours with a known cost
--   tokens_m: million tokens served in them
--   cost: of the instances
--   cost_per_mtok: cost over tokens
--   revenue_per_mtok: what they were sold for, output and cache writes included
--   currency: of the amounts
select
  cast(extract(hour from money.hour_utc) as integer) // 3 * 3 as from_hour,
  count(*) as n_hours,
  sum(hourly.input_tokens + coalesce(hourly.output_tokens, 0)) / 1e6 as tokens_m,
  sum(money.cost) as cost,
  sum(money.cost) * 1e6 / nullif(sum(hourly.input_tokens + coalesce(hourly.output_tokens, 0)), 0) as cost_per_mtok,
  sum(money.gross_revenue) * 1e6 / nullif(sum(hourly.input_tokens + coalesce(hourly.output_tokens, 0)), 0)
    as revenue_per_mtok,
  money.currency
from profit_and_loss as money
inner join hourly_hit_rate as hourly
  on money.deployment = hourly.deployment and money.hour_utc = hourly.hour_utc
where money.deployment like $deployment and money.cost is not null
group by cast(extract(hour from money.hour_utc) as integer) // 3 * 3, money.currency
order by from_hour, money.currency
