-- name: alerts/keys_like
-- grain: alert key
-- params: dedup_key VARCHAR (a beginning of a key)
-- reads: ops.alert_outbox
-- units: none
-- why: what a person means who types the first characters of a key
select distinct
  dedup_key,
  deployment
from ops.alert_outbox
where starts_with(dedup_key, $dedup_key)
order by dedup_key
