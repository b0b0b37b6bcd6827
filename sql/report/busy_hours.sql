-- name: report/busy_hours
-- grain: hour
-- params: deployment VARCHAR, first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.busy_periods
-- units: microseconds; busy periods that began
-- why: measured busy time; of an hour that several logs tell of, from the best basis alone. No row where no instance is
--      logged
with ranked as (
  select
    minute_index // 60 as hour_index,
    basis_rank,
    min(basis_rank) over (partition by minute_index // 60) as best_rank,
    busy_us,
    begins_period
  from mart.busy_periods
  where deployment = $deployment and minute_index // 60 between $first_hour and $last_hour
)

select
  hour_index,
  sum(busy_us)::bigint as busy_us,
  sum(begins_period)::bigint as n_periods
from ranked
where basis_rank = best_rank
group by hour_index
order by hour_index
