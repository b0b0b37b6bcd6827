-- name: ingest/keep_grown
-- grain: statement
-- params: content_sha256 VARCHAR, first_line BIGINT, is_judged_again BOOLEAN
-- reads: staged, ops.quarantine
-- units: none
-- why: of a file that has grown only what is new concerns us, and what was refused if the settings have changed
delete from staged
where
  source_line < $first_line
  and not (
    $is_judged_again
    and source_line in (
      select source_line from ops.quarantine where content_sha256 = $content_sha256 and source_line is not null
    )
  )
