-- name: ops/crowded_days
-- grain: day
-- params: small_bytes BIGINT, n_files BIGINT
-- reads: ops.lake_files
-- units: day_index
-- why: many small files make every later comparison slow
select day_index
from ops.lake_files
where size_bytes < $small_bytes
group by day_index
having count(*) >= $n_files
order by day_index
