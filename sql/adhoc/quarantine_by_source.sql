-- name: adhoc/quarantine_by_source
-- grain: source × reason
-- params: none
-- reads: ingest_files, quarantine
-- units: lines; share in [0, 1]
-- question: What was refused, from which source, and why?
-- why: lines of files that were rejected whole are not counted, only the file is; a source of which nothing was
--      refused has one row without a reason
-- comments:
--   source_name: as configured
--   reason: code of the refusal; NULL = nothing of the source was refused
--   n_files: files it was found in
--   n_lines: refused lines
--   lines: of the source's files
--   share: of those lines
with refused as (
  select
    content_sha256,
    reason,
    count(source_line) as n_lines
  from quarantine
  group by content_sha256, reason
),

sources as (
  select source_name, sum(lines) as lines
  from ingest_files
  group by source_name
)

select
  files.source_name,
  refused.reason,
  count(distinct case when refused.reason is not null then files.content_sha256 end) as n_files,
  coalesce(sum(refused.n_lines), 0) as n_lines,
  max(sources.lines) as lines,
  coalesce(sum(refused.n_lines), 0) / nullif(max(sources.lines), 0) as share
from ingest_files as files
inner join sources on files.source_name = sources.source_name
left join refused on files.content_sha256 = refused.content_sha256
group by files.source_name, refused.reason
having refused.reason is not null or sum(refused.n_lines) is null
order by n_lines desc, files.source_name asc, refused.reason asc
limit 8
