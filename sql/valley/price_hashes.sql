-- name: valley/price_hashes
-- grain: price list
-- params: none
-- reads: mart.price_history
-- units: none
-- why: lists that are remembered already
select distinct price_hash
from mart.price_history
