-- name: schema/04_lake_files
-- grain: Parquet file of the lake
-- params: none
-- reads: nothing
-- units: none
-- why: a file is part of the lake only while it is listed here; last_day_index is the day of the last first token
create table if not exists ops.lake_files (
  file varchar not null,
  day_index bigint not null,
  last_day_index bigint not null,
  n_requests bigint not null,
  size_bytes bigint not null,
  sha256 varchar not null
)
