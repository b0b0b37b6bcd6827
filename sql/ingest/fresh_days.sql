-- name: ingest/fresh_days
-- grain: day
-- params: none
-- reads: staged
-- units: day_index
-- why: one Parquet file a day
select
  arrived_us // 86400000000 as day_index,
  max(arrived_us + coalesce(ttft_us, 0)) // 86400000000 as last_day_index,
  count(*) as n_requests
from staged
where reason is null
group by arrived_us // 86400000000
order by day_index
