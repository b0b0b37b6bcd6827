-- name: valley/clear_episodes
-- grain: statement
-- params: none
-- reads: mart.valley_episodes
-- units: none
-- why: in the transaction that inserts them anew
delete from mart.valley_episodes
