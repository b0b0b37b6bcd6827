-- name: checks/files_profile
-- grain: file that a request of the day came from
-- params: from_us BIGINT, to_us BIGINT
-- reads: requests, ops.ingest_files
-- units: quarantined_share = quarantined lines ÷ lines that are not blank
-- why: a producer that starts to change its format loses some lines first
select
  path,
  quarantined / nullif(lines - blank, 0) as quarantined_share
from ops.ingest_files
where origin_sha256 in (
  select distinct source_sha256
  from requests
  where arrived_us >= $from_us and arrived_us < $to_us
)
order by path
