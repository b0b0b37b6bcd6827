-- name: spark/mart/unique_requests
-- grain: request
-- params: none
-- reads: lake
-- units: tokens; microseconds
-- generated: from sql/mart/unique_requests.sql by sqlglot 30.30.0 (`make spark-sql`); edit that, not this
WITH numbered AS (
  SELECT
    request_id,
    arrived_us,
    deployment,
    instance,
    model,
    session_id,
    input_tokens,
    cached_tokens,
    cached_device_tokens,
    cached_host_tokens,
    cached_storage_tokens,
    cache_write_tokens,
    output_tokens,
    queue_us,
    prefill_us,
    ttft_us,
    e2e_us,
    ttft_basis,
    cached_basis,
    status,
    outcome,
    source_name,
    source_file,
    source_line,
    source_sha256,
    ROW_NUMBER() OVER (
      PARTITION BY deployment, request_id
      ORDER BY CASE outcome WHEN 'ok' THEN 0 WHEN 'aborted' THEN 1 ELSE 2 END ASC NULLS LAST, COALESCE(output_tokens, -1) DESC, arrived_us ASC NULLS LAST, COALESCE(input_tokens, -1) ASC NULLS LAST, COALESCE(cached_tokens, -1) ASC NULLS LAST, COALESCE(cache_write_tokens, -1) ASC NULLS LAST, COALESCE(queue_us, -1) ASC NULLS LAST, COALESCE(prefill_us, -1) ASC NULLS LAST, COALESCE(ttft_us, -1) ASC NULLS LAST, COALESCE(e2e_us, -1) ASC NULLS LAST, COALESCE(instance, '') ASC NULLS LAST, COALESCE(model, '') ASC NULLS LAST, COALESCE(session_id, '') ASC NULLS LAST, COALESCE(status, '') ASC NULLS LAST, source_line ASC NULLS LAST, source_sha256 ASC NULLS LAST, source_file ASC NULLS LAST, source_name ASC NULLS LAST
    ) AS place
  FROM lake
)
SELECT
  request_id,
  arrived_us,
  deployment,
  instance,
  model,
  session_id,
  input_tokens,
  cached_tokens,
  cached_device_tokens,
  cached_host_tokens,
  cached_storage_tokens,
  cache_write_tokens,
  output_tokens,
  queue_us,
  prefill_us,
  ttft_us,
  e2e_us,
  ttft_basis,
  cached_basis,
  status,
  outcome,
  source_name,
  source_file,
  source_line,
  source_sha256
FROM numbered
WHERE
  place = 1
