-- name: spark/mart/hit_rate_histogram
-- grain: deployment × hour × bin
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us); whole hours)
-- reads: requests
-- units: tokens; bin bounds in thousandths of request_hit_rate
-- generated: from sql/mart/hit_rate_histogram.sql by sqlglot 30.30.0 (`make spark-sql`); edit that, not this
WITH rated AS (
  SELECT
    deployment,
    arrived_us DIV 3600000000 AS hour_index,
    input_tokens,
    cached_tokens,
    CASE
      WHEN cached_tokens = 0
      THEN 0
      WHEN cached_tokens = input_tokens
      THEN 1000
      WHEN 100 * cached_tokens DIV input_tokens < 99
      THEN 10 * (
        100 * cached_tokens DIV input_tokens
      )
      ELSE 1000 * cached_tokens DIV input_tokens
    END AS bin_low_permille,
    CASE
      WHEN cached_tokens = 0
      THEN 0
      WHEN cached_tokens = input_tokens
      THEN 1000
      WHEN 100 * cached_tokens DIV input_tokens < 99
      THEN 10 * (
        100 * cached_tokens DIV input_tokens
      ) + 10
      ELSE 1000 * cached_tokens DIV input_tokens + 1
    END AS bin_high_permille
  FROM requests
  WHERE
    arrived_us >= :from_us
    AND arrived_us < :to_us
    AND outcome = 'ok'
    AND NOT cached_tokens IS NULL
    AND input_tokens > 0
)
SELECT
  deployment,
  hour_index,
  bin_low_permille,
  bin_high_permille,
  CAST(COUNT(*) AS BIGINT) AS n_requests,
  CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
  CAST(SUM(cached_tokens) AS BIGINT) AS cached_tokens
FROM rated
GROUP BY
  deployment,
  hour_index,
  bin_low_permille,
  bin_high_permille
