-- name: valley/episodes
-- grain: episode
-- params: none
-- reads: mart.valley_status
-- units: ratios; money; hour_index
-- why: maximal runs of hours held in the valley; an hour without traffic does not end a run, leaving does. left_hour_index is NULL while the run goes on
with ordered as (
  select
    deployment,
    hour_index,
    is_in_valley,
    revenue_index,
    lost_per_hour,
    currency,
    coalesce(lag(is_in_valley) over (partition by deployment order by hour_index asc), false) as was_in_valley
  from mart.valley_status
),

numbered as (
  select
    deployment,
    hour_index,
    is_in_valley,
    revenue_index,
    lost_per_hour,
    currency,
    sum(case when is_in_valley and not was_in_valley then 1 else 0 end) over (
      partition by deployment order by hour_index asc rows between unbounded preceding and current row
    ) as episode
  from ordered
)

select
  deployment,
  min(hour_index) filter (where is_in_valley) as entered_hour_index,
  min(hour_index) filter (where not is_in_valley) as left_hour_index,
  max(1 - revenue_index) filter (where is_in_valley) as peak_depth,
  fsum(lost_per_hour) filter (where is_in_valley) as lost_total,
  max(currency) filter (where is_in_valley) as currency
from numbered
where episode > 0
group by deployment, episode
order by deployment, entered_hour_index
