-- name: adhoc/revenue_by_model
-- grain: deployment × model × currency
-- params: days BIGINT = 7 (up to the newest hour with traffic)
-- reads: profit_breakdown
-- units: tokens; money in currency; hit rate
-- question: Which models bring in the revenue, and at which hit rate?
-- comments:
--   deployment: what served
--   model: as the log names it; NULL = it does not
--   n_requests: sold
--   hit_rate: token-weighted, of the requests that report
--   prompt_revenue: of computed and cached tokens
--   output_revenue: of output tokens; NULL = no price
--   gross_revenue: of all that is sold
--   currency: of the amounts
with newest as (
  select max(hour_utc) as hour_utc
  from profit_breakdown
)

select
  parts.deployment,
  parts.model,
  sum(parts.n_requests) as n_requests,
  sum(parts.cached_tokens) / nullif(sum(parts.reported_input_tokens), 0) as hit_rate,
  sum(parts.miss_revenue) + sum(parts.cached_revenue) as prompt_revenue,
  sum(parts.output_revenue) as output_revenue,
  sum(parts.gross_revenue) as gross_revenue,
  parts.currency
from profit_breakdown as parts
cross join newest
where parts.hour_utc > newest.hour_utc - to_days(cast($days as integer))
group by parts.deployment, parts.model, parts.currency
order by gross_revenue desc nulls last, parts.deployment asc, parts.model asc
limit 8
