-- name: ingest/macros/1_is_systematic
-- grain: scalar; whether n_lines faults in of_lines cannot be chance; never NULL
-- params: none
-- reads: nothing
-- units: counts
-- why: engines do get single lines wrong (a retraction counts its cached tokens twice), at most one in a hundred. Chernoff's
--      bound on the chance of seeing n_lines or more at that rate must be below 1e-9 (20.7 = ln 1e9), low enough for a
--      file of ten thousand deployments: 5 of 5, 8 of 20, 13 of 100, 72 of 3,000, and never 1 % or less
create or replace temp macro is_systematic(n_lines, of_lines) as
  coalesce(
    n_lines > 0.01 * of_lines
    and n_lines * ln(n_lines / (0.01 * of_lines))
    + case
        when n_lines < of_lines then (of_lines - n_lines) * ln((of_lines - n_lines) / (0.99 * of_lines))
        else 0
      end
    > 20.7,
    false
  )
