-- name: schema/33_valley_episodes
-- grain: episode
-- params: none
-- reads: nothing
-- units: ratios; money; hours
-- why: a maximal run of hours that policy holds a deployment in the valley. Depth and loss are of the evaluated hours, all
--      but n_held_hours of n_hours with traffic; lost_total is NULL where prices changed currency
create table if not exists mart.valley_episodes (
  deployment varchar not null,
  entered_hour_index bigint not null,
  left_hour_index bigint,
  n_hours bigint not null,
  n_held_hours bigint not null,
  peak_depth double not null,
  deepest_hour_index bigint not null,
  lost_total double,
  currency varchar,
  policy_version bigint not null,
  dedup_key varchar not null,
  notified_us bigint
)
