-- name: adhoc/tokens_over_99
-- grain: three hours of the day
-- params: deployment VARCHAR = % (like pattern), hit_rate DOUBLE = 0.99 (a multiple of .001 from .99 on, of .01
--      below)
-- reads: hit_rate_histogram
-- units: tokens; shares in [0, 1]
-- question: Which share of the prompt tokens is in requests of 99 % hits or more, by time of day?
-- comments:
--   from_hour: first hour of the day, UTC, of three
--   n_requests: with a hit rate
--   share_of_requests: at or above it
--   input_tokens: of all of them
--   share_of_tokens: of the prompt tokens, those in requests at or above it
select
  cast(extract(hour from hour_utc) as integer) // 3 * 3 as from_hour,
  sum(n_requests) as n_requests,
  sum(case when bin_low >= $hit_rate then n_requests else 0 end) / sum(n_requests) as share_of_requests,
  sum(input_tokens) as input_tokens,
  sum(case when bin_low >= $hit_rate then input_tokens else 0 end) / nullif(sum(input_tokens), 0) as share_of_tokens
from hit_rate_histogram
where deployment like $deployment
group by cast(extract(hour from hour_utc) as integer) // 3 * 3
order by from_hour
