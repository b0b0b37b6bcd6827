-- name: spark/mart/hourly_hit_rate
-- grain: deployment × hour
-- params: from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us); whole hours)
-- reads: requests
-- units: tokens; request hit rates in parts per billion (ppb); hour_index = whole hours since 1970-01-01T00Z
-- generated: from sql/mart/hourly_hit_rate.sql by sqlglot 30.30.0 (`make spark-sql`); edit that, not this
WITH served AS (
  SELECT
    deployment,
    arrived_us DIV 3600000000 AS hour_index,
    input_tokens,
    cached_tokens,
    output_tokens,
    CASE WHEN outcome = 'ok' THEN 1 ELSE 0 END AS is_ok,
    CASE WHEN outcome IN ('failed', 'aborted') THEN 1 ELSE 0 END AS is_failed,
    CASE WHEN outcome = 'ok' AND NOT cached_tokens IS NULL THEN 1 ELSE 0 END AS is_reported,
    CASE
      WHEN outcome = 'ok' AND NOT cached_tokens IS NULL AND input_tokens > 0
      THEN 1000000000 * cached_tokens DIV input_tokens
    END AS request_hit_ppb
  FROM requests
  WHERE
    arrived_us >= :from_us AND arrived_us < :to_us
), ranked AS (
  SELECT
    deployment,
    hour_index,
    input_tokens,
    cached_tokens,
    output_tokens,
    is_ok,
    is_failed,
    is_reported,
    request_hit_ppb,
    ROW_NUMBER() OVER (
      PARTITION BY deployment, hour_index
      ORDER BY request_hit_ppb ASC NULLS LAST, input_tokens ASC NULLS LAST
    ) AS hit_rank,
    COUNT(request_hit_ppb) OVER (PARTITION BY deployment, hour_index) AS n_rated
  FROM served
)
SELECT
  deployment,
  hour_index,
  CAST(SUM(is_ok) AS BIGINT) AS n_requests,
  CAST(SUM(is_failed) AS BIGINT) AS n_failed,
  CAST((
    COUNT(*) - SUM(is_ok) - SUM(is_failed)
  ) AS BIGINT) AS n_left_out,
  CAST(SUM(is_reported) AS BIGINT) AS n_reported,
  CAST(MAX(n_rated) AS BIGINT) AS n_rated,
  CAST(COALESCE(SUM(input_tokens) FILTER(WHERE
    is_ok = 1), 0) AS BIGINT) AS input_tokens,
  CAST((
    SUM(input_tokens) FILTER(WHERE
      is_reported = 1)
  ) AS BIGINT) AS reported_input_tokens,
  CAST((
    SUM(cached_tokens) FILTER(WHERE
      is_reported = 1)
  ) AS BIGINT) AS cached_tokens,
  CAST((
    SUM(input_tokens - cached_tokens) FILTER(WHERE
      is_reported = 1)
  ) AS BIGINT) AS miss_tokens,
  CAST((
    SUM(output_tokens) FILTER(WHERE
      is_ok = 1)
  ) AS BIGINT) AS output_tokens,
  CAST(SUM(request_hit_ppb) AS BIGINT) AS sum_request_hit_ppb,
  CAST(MAX(request_hit_ppb) FILTER(WHERE
    hit_rank = (
      10 * n_rated + 99
    ) DIV 100) AS BIGINT) AS p10_request_hit_ppb,
  CAST(MAX(request_hit_ppb) FILTER(WHERE
    hit_rank = (
      50 * n_rated + 99
    ) DIV 100) AS BIGINT) AS p50_request_hit_ppb,
  CAST(MAX(request_hit_ppb) FILTER(WHERE
    hit_rank = (
      90 * n_rated + 99
    ) DIV 100) AS BIGINT) AS p90_request_hit_ppb,
  CAST(COUNT(*) FILTER(WHERE
    NOT request_hit_ppb IS NULL AND cached_tokens = 0) AS BIGINT) AS n_zero,
  CAST(COUNT(*) FILTER(WHERE
    NOT request_hit_ppb IS NULL AND 100 * cached_tokens > 99 * input_tokens) AS BIGINT) AS n_over_99,
  CAST((
    SUM(CAST((
      input_tokens - cached_tokens
    ) AS DECIMAL(38, 0)) * cached_tokens) FILTER(WHERE
      is_reported = 1)
  ) AS DECIMAL(38, 0)) AS sum_miss_cached,
  CAST((
    SUM(
      CAST((
        input_tokens - cached_tokens
      ) AS DECIMAL(38, 0)) * (
        input_tokens - cached_tokens
      )
    ) FILTER(WHERE
      is_reported = 1)
  ) AS DECIMAL(38, 0)) AS sum_miss_sq,
  CAST((
    SUM(CAST(cached_tokens AS DECIMAL(38, 0)) * cached_tokens) FILTER(WHERE
      is_reported = 1)
  ) AS DECIMAL(38, 0)) AS sum_cached_sq,
  CAST((
    SUM(CAST(input_tokens AS DECIMAL(38, 0)) * input_tokens) FILTER(WHERE
      is_reported = 1)
  ) AS DECIMAL(38, 0)) AS sum_input_sq
FROM ranked
GROUP BY
  deployment,
  hour_index
