-- name: adhoc/curve_of_lengths
-- grain: deployment × band of prompt lengths
-- params: deployment VARCHAR = % (like pattern)
-- reads: curve_by_length
-- units: tokens; tokens/s; slope [1]
-- question: How does the throughput curve depend on the length of the prompt?
-- why: of the newest day; the eight longest bands
-- comments:
--   deployment: whom it is about
--   median_input_tokens: of the band
--   tps0: computed tokens per busy second without hits
--   a: slope
--   agrees: with a fit to the band's own traffic; NULL = too little of it
with newest as (
  select deployment, max(day_utc) as day_utc
  from curve_by_length
  group by deployment
)

select
  bands.deployment,
  bands.median_input_tokens,
  bands.tps0,
  bands.a,
  bands.agrees
from curve_by_length as bands
inner join newest on bands.deployment = newest.deployment and bands.day_utc = newest.day_utc
where bands.deployment like $deployment
order by bands.median_input_tokens desc, bands.deployment asc
limit 8
