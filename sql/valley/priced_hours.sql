-- name: valley/priced_hours
-- grain: deployment × hour
-- params: first_hour BIGINT, last_hour BIGINT (inclusive)
-- reads: mart.valley_status
-- units: hour_index
-- why: which price list an hour was published with; NULL where not all of its traffic had a price
select
  deployment,
  hour_index,
  price_hash
from mart.valley_status
where hour_index between $first_hour and $last_hour
order by deployment, hour_index
