-- name: views/curve_families
-- grain: deployment × day × family
-- params: none
-- reads: mart.curve_families
-- units: tokens/s; error = root mean square of the relative error on hours left out
-- about: how well each shape of the curve predicts hours it has not seen
-- why: how well each shape of the curve predicts hours it has not seen; is_kept marks the family of throughput_curve
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   day_utc: UTC date
--   family: shape: line, hyperbola or service_time
--   error: root mean square of the relative error on hours left out [1]
--   tps0: computed prompt tokens per busy second at hit rate 0 [tokens/s]
--   a: slope of its line up to a hit rate of .9 [1]
--   is_kept: whether it is the family of throughput_curve
select
  deployment,
  make_date(day_index::integer) as day_utc,
  family,
  error,
  tps0,
  a,
  is_kept
from mart.curve_families
