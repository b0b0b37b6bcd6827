-- name: adhoc/late_lines
-- grain: source
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: requests, hourly_hit_rate, ingest_files
-- units: seconds; lines
-- question: How late do lines come: how long after its request was a line loaded?
-- why: between arrival and the load of the file; a file that has grown counts with its latest load, which is late
--      for its first lines, and lines of a file whose beginning has another row since are not counted
-- comments:
--   source_name: as configured
--   n_lines: loaded lines
--   newest_arrived_at: the newest request, UTC
--   newest_loaded_at: the newest load, UTC
--   median_late_s: half of the lines were loaded sooner
--   longest_late_s: the latest
with newest as (
  select max(epoch_us(hour_utc)) + 3600000000 as end_us
  from hourly_hit_rate
)

select
  requests.source_name,
  count(*) as n_lines,
  max(requests.arrived_at) as newest_arrived_at,
  max(files.loaded_at) as newest_loaded_at,
  quantile_disc(epoch_us(files.loaded_at) - requests.arrived_us, 0.5) / 1e6 as median_late_s,
  max(epoch_us(files.loaded_at) - requests.arrived_us) / 1e6 as longest_late_s
from requests
cross join newest
inner join ingest_files as files on requests.source_sha256 = files.content_sha256
where
  requests.arrived_us >= newest.end_us - $days * 86400000000
  and requests.day_utc >= cast(make_timestamp(newest.end_us - $days * 86400000000) as date)
group by requests.source_name
order by median_late_s desc, requests.source_name asc
