-- name: schema/33_valley_episodes
-- grain: episode
-- params: none
-- reads: nothing
-- units: ratios; money
-- why: a maximal run of hours that policy holds a deployment in the valley
create table if not exists mart.valley_episodes (
  deployment varchar not null,
  entered_hour_index bigint not null,
  left_hour_index bigint,
  peak_depth double,
  lost_total double,
  currency varchar,
  dedup_key varchar not null,
  notified_us bigint
)
