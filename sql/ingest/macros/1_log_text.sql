-- name: ingest/macros/1_log_text
-- grain: scalar; a line of a text log as its producer wrote it
-- params: none
-- reads: nothing
-- units: none
-- why: terminals are given colours, and container runtimes put a time stamp and the name of the stream in front
create or replace temp macro log_text(line) as
  regexp_replace(
    regexp_replace(line, '\x1b\[[^m]*m', '', 'g'),
    '^\d{4}-\d\d-\d\dT[0-9:.]+(Z|[+-]\d\d:?\d\d) ((stdout|stderr) [FP] )?',
    ''
  )
