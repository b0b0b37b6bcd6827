-- name: share/verdicts
-- grain: deployment × hour
-- params: from_us BIGINT, to_us BIGINT (hours in [from_us, to_us))
-- reads: valley_status
-- units: ratios
-- why: what the hour as a whole says; no money, of which token counts of other sets of requests could be computed
select
  deployment,
  hour_utc,
  price_ratio,
  revenue_index,
  index_low,
  index_high,
  p_in_valley,
  floor_hit_rate,
  exit_hit_rate,
  floor_depth,
  side,
  state
from valley_status
where epoch_us(hour_utc) >= $from_us and epoch_us(hour_utc) < $to_us
order by deployment, hour_utc
