-- name: schema/31_curve_families
-- grain: deployment × day × family
-- params: none
-- reads: nothing
-- units: tokens/s; error = root mean square of the relative error on hours left out
-- why: the shapes that were compared for the curve in mart.throughput_curve; none where it rests on no busy periods
create table if not exists mart.curve_families (
  deployment varchar not null,
  day_index bigint not null,
  family varchar not null,
  error double not null,
  tps0 double,
  a double,
  is_kept boolean not null
)
