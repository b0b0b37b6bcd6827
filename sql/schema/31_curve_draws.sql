-- name: schema/31_curve_draws
-- grain: deployment × day × bootstrap draw
-- params: none
-- reads: nothing
-- units: seconds per request, token, token² and token
-- why: the curve's uncertainty, from which every later interval is made
create table if not exists mart.curve_draws (
  deployment varchar not null,
  day_index bigint not null,
  draw bigint not null,
  f double not null,
  c double not null,
  q double not null,
  k double not null
)
