-- name: valley/clear_episodes
-- grain: statement
-- params: hour_index BIGINT
-- reads: mart.valley_episodes
-- units: hour_index
-- why: episodes that hours from this one on can change; in the transaction that inserts them anew
delete from mart.valley_episodes
where left_hour_index is null or left_hour_index >= $hour_index
