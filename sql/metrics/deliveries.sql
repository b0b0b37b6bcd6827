-- name: metrics/deliveries
-- grain: status
-- params: none
-- reads: ops.alert_deliveries
-- units: counts of alert × channel
-- why: what became of alerts: those given up, or waiting for long, need a person
select status, count(*) as n_deliveries
from ops.alert_deliveries
group by status
order by status
