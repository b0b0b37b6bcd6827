-- name: doctor/newest_times
-- grain: one row
-- params: none
-- reads: ops.ingest_files, ops.alert_outbox, mart.hourly_hit_rate
-- units: microseconds; hour_index
-- why: the newest moments that the job's own clock wrote, and the newest hour of traffic
select
  (select max(loaded_us) from ops.ingest_files) as loaded_us,
  (select max(written_us) from ops.alert_outbox) as written_us,
  (select max(hour_index) from mart.hourly_hit_rate) as last_hour_index
