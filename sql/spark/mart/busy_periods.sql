-- name: spark/mart/busy_periods
-- grain: deployment × instance × basis × busy period × minute of the first token
-- params: context_from_us BIGINT (arrivals read, a day before the first minute), from_us BIGINT, to_us BIGINT
--         (first tokens in [from_us, to_us); whole minutes)
-- reads: requests
-- units: microseconds; tokens; attention2 = Σ(2·M·P + M²) in tokens²; steps_C = Σ greatest(1, ceil(M/C)) in steps
-- generated: from sql/mart/busy_periods.sql by sqlglot 30.30.0 (`make spark-sql`); edit that, not this
WITH served AS (
  SELECT
    deployment,
    instance,
    ttft_basis,
    CASE WHEN cached_basis = 'declared' THEN 'measured' ELSE cached_basis END AS cached_basis,
    request_id,
    arrived_us + ttft_us AS first_token_us,
    CASE
      WHEN prefill_us IS NULL
      THEN arrived_us
      ELSE arrived_us + ttft_us - prefill_us
    END AS start_us,
    input_tokens,
    cached_tokens,
    output_tokens
  FROM requests
  WHERE
    arrived_us >= :context_from_us
    AND arrived_us < :to_us
    AND outcome = 'ok'
    AND NOT ttft_us IS NULL
    AND NOT instance IS NULL
), ordered AS (
  SELECT
    deployment,
    instance,
    ttft_basis,
    cached_basis,
    request_id,
    first_token_us,
    start_us,
    input_tokens,
    cached_tokens,
    output_tokens,
    LAG(first_token_us) OVER (
      PARTITION BY deployment, instance, ttft_basis, cached_basis
      ORDER BY first_token_us ASC NULLS LAST, start_us ASC NULLS LAST, request_id ASC NULLS LAST
    ) AS previous_first_token_us,
    MIN(start_us) OVER (
      PARTITION BY deployment, instance, ttft_basis, cached_basis
      ORDER BY first_token_us DESC, start_us DESC, request_id DESC
      rows BETWEEN UNBOUNDED preceding AND CURRENT ROW
    ) AS earliest_start_us
  FROM served
), attributed AS (
  SELECT
    deployment,
    instance,
    ttft_basis,
    cached_basis,
    request_id,
    first_token_us,
    start_us,
    input_tokens,
    cached_tokens,
    output_tokens,
    CASE
      WHEN previous_first_token_us IS NULL OR earliest_start_us > previous_first_token_us
      THEN earliest_start_us
    END AS period_start_us,
    first_token_us - CASE
      WHEN previous_first_token_us IS NULL OR earliest_start_us > previous_first_token_us
      THEN earliest_start_us
      ELSE previous_first_token_us
    END AS busy_us
  FROM ordered
), numbered AS (
  SELECT
    deployment,
    instance,
    ttft_basis,
    cached_basis,
    first_token_us,
    input_tokens,
    cached_tokens,
    output_tokens,
    period_start_us,
    busy_us,
    MAX(period_start_us) OVER (
      PARTITION BY deployment, instance, ttft_basis, cached_basis
      ORDER BY first_token_us ASC NULLS LAST, start_us ASC NULLS LAST, request_id ASC NULLS LAST
      rows BETWEEN UNBOUNDED preceding AND CURRENT ROW
    ) AS period_id
  FROM attributed
)
SELECT
  deployment,
  instance,
  ttft_basis,
  cached_basis,
  CASE cached_basis WHEN 'measured' THEN 0 WHEN 'predicted' THEN 10 ELSE 20 END + CASE ttft_basis
    WHEN 'engine'
    THEN 0
    WHEN 'gateway'
    THEN 1
    WHEN 'client'
    THEN 2
    ELSE 3
  END AS basis_rank,
  period_id,
  first_token_us DIV 60000000 AS minute_index,
  CAST(COUNT(period_start_us) AS BIGINT) AS begins_period,
  CAST(SUM(busy_us) AS BIGINT) AS busy_us,
  CAST(COUNT(*) AS BIGINT) AS n_requests,
  CAST((
    COUNT(*) - COUNT(cached_tokens)
  ) AS BIGINT) AS n_unreported,
  CAST(SUM(input_tokens) AS BIGINT) AS input_tokens,
  CAST(COALESCE(SUM(cached_tokens), 0) AS BIGINT) AS cached_tokens,
  CAST(COALESCE(SUM(input_tokens - cached_tokens), 0) AS BIGINT) AS miss_tokens,
  CAST(COALESCE(SUM(output_tokens), 0) AS BIGINT) AS output_tokens,
  CAST(COALESCE(
    SUM(
      2 * CAST((
        input_tokens - cached_tokens
      ) AS DECIMAL(38, 0)) * cached_tokens + CAST((
        input_tokens - cached_tokens
      ) AS DECIMAL(38, 0)) * (
        input_tokens - cached_tokens
      )
    ),
    0
  ) AS DECIMAL(38, 0)) AS attention2,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN NOT cached_tokens IS NULL
        THEN GREATEST(1, (
          input_tokens - cached_tokens + 1023
        ) DIV 1024)
      END
    ),
    0
  ) AS BIGINT) AS steps_1024,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN NOT cached_tokens IS NULL
        THEN GREATEST(1, (
          input_tokens - cached_tokens + 2047
        ) DIV 2048)
      END
    ),
    0
  ) AS BIGINT) AS steps_2048,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN NOT cached_tokens IS NULL
        THEN GREATEST(1, (
          input_tokens - cached_tokens + 4095
        ) DIV 4096)
      END
    ),
    0
  ) AS BIGINT) AS steps_4096,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN NOT cached_tokens IS NULL
        THEN GREATEST(1, (
          input_tokens - cached_tokens + 8191
        ) DIV 8192)
      END
    ),
    0
  ) AS BIGINT) AS steps_8192,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN NOT cached_tokens IS NULL
        THEN GREATEST(1, (
          input_tokens - cached_tokens + 16383
        ) DIV 16384)
      END
    ),
    0
  ) AS BIGINT) AS steps_16384,
  CAST(COALESCE(
    SUM(
      CASE
        WHEN NOT cached_tokens IS NULL
        THEN GREATEST(1, (
          input_tokens - cached_tokens + 32767
        ) DIV 32768)
      END
    ),
    0
  ) AS BIGINT) AS steps_32768
FROM numbered
WHERE
  first_token_us >= :from_us AND first_token_us < :to_us
GROUP BY
  deployment,
  instance,
  ttft_basis,
  cached_basis,
  period_id,
  first_token_us DIV 60000000
