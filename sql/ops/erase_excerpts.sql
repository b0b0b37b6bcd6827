-- name: ops/erase_excerpts
-- grain: statement
-- params: refused_before_us BIGINT
-- reads: ops.quarantine
-- units: microseconds since 1970-01-01T00:00:00Z
-- why: an excerpt may hold personal data; a row without a line tells of a whole file in words of ours
update ops.quarantine
set excerpt = null
where excerpt is not null and source_line is not null and refused_us < $refused_before_us
