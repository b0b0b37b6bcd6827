-- name: schema/50_findings
-- grain: day × contract × expectation
-- params: none
-- reads: nothing
-- units: day_index
-- why: what each day's contracts were found to be; replaced per day and contract in one commit
create table if not exists ops.findings (
  day_index bigint not null,
  contract varchar not null,
  expectation varchar not null,
  severity varchar not null,
  passed boolean not null,
  detail varchar not null
)
