-- name: adhoc/break_even_ratios
-- grain: deployment
-- params: none
-- reads: valley_status, throughput_curve
-- units: ratios
-- question: At which price ratio would the hits of today just break even?
-- why: by the straight line at the reference length of the curve: close for even lengths; `valleywatch whatif` has
--      it exact for the mix
-- comments:
--   deployment: those with a trusted curve
--   reference_input_tokens: the length the line is of
--   a: slope of the line
--   hit_rate: of its newest hour
--   price_ratio: what holds
--   break_even_price_ratio: below it hits lose money at this hit rate
--   line_index: what the line says of the hour
--   revenue_index: what the hour's own mix says
with newest as (
  select
    deployment,
    hour_utc,
    hit_rate,
    price_ratio,
    revenue_index,
    row_number() over (partition by deployment order by hour_utc desc) as age
  from valley_status
  where revenue_index is not null
)

select
  newest.deployment,
  curve.reference_input_tokens,
  curve.a,
  newest.hit_rate,
  newest.price_ratio,
  break_even_ratio(newest.hit_rate, curve.a) as break_even_price_ratio,
  bathtub(newest.hit_rate, curve.a, newest.price_ratio) as line_index,
  newest.revenue_index
from newest
inner join throughput_curve as curve
  on newest.deployment = curve.deployment and cast(newest.hour_utc as date) = curve.day_utc
where newest.age = 1 and curve.trustworthy
order by newest.price_ratio - break_even_ratio(newest.hit_rate, curve.a), newest.deployment
