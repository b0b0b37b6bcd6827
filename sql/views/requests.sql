-- name: views/requests
-- grain: request
-- params: none
-- reads: lake
-- units: tokens; _us microseconds, _s seconds
-- about: every accepted request, once
-- why: every accepted request once
-- comments:
--   request_id: the log's own id, or a hash of the record where it has none; unique within a deployment
--   arrived_us: arrival [microseconds since 1970-01-01T00:00:00Z]
--   arrived_at: arrival, UTC
--   hour_utc: start of the UTC hour of arrival
--   day_utc: UTC date of arrival; a filter on it leaves the files of other days unopened
--   deployment: what served it: a model, its configuration and its hardware pool
--   instance: the replica that served it; NULL = not known
--   model: model as the log names it; NULL = not named
--   session_id: conversation or user session as the log names it; NULL = not named
--   input_tokens: all prompt tokens, cached ones included [tokens]
--   cached_tokens: prompt tokens served from the prefix cache [tokens]; NULL = not reported, 0 = a true miss
--   miss_tokens: prompt tokens that were computed, input_tokens − cached_tokens [tokens]; NULL = not reported
--   cached_device_tokens: cached tokens found in device memory [tokens]; NULL = not reported
--   cached_host_tokens: cached tokens loaded from host memory [tokens]; NULL = not reported
--   cached_storage_tokens: cached tokens loaded from storage [tokens]; NULL = not reported
--   cache_write_tokens: prompt tokens written to a cache that bills for it [tokens]; NULL = not reported
--   output_tokens: generated tokens [tokens]; NULL = not reported
--   queue_us: wait before prefill [microseconds]; NULL = not reported
--   prefill_us: service time of prefill [microseconds]; NULL = not reported
--   ttft_us: arrival to first token [microseconds]; NULL = not reported
--   e2e_us: arrival to the end of the answer [microseconds]; NULL = not reported
--   queue_s: queue_us [seconds]
--   prefill_s: prefill_us [seconds]
--   ttft_s: ttft_us [seconds]
--   e2e_s: e2e_us [seconds]
--   request_hit_rate: cached_tokens / input_tokens, in [0, 1]; NULL = not reported. Do not average it over requests: a
--     hit rate is sum(cached_tokens) / sum(input_tokens)
--   ttft_basis: where times are taken: engine, gateway, client
--   cached_basis: where cached_tokens comes from: measured, declared (absent is 0 by configuration), predicted,
--     simulated
--   status: the log's own status
--   outcome: what status stands for: ok, failed, aborted, or a kind that stays out of every rate (warm-ups, health
--     checks, answers of a response cache, untimed)
--   source_name: name of the source in the configuration
--   source_file: path or URL of the log file
--   source_line: line in it, from 1
--   source_sha256: SHA-256 of the content the file was first loaded as
select
  request_id,
  arrived_us,
  make_timestamp(arrived_us) as arrived_at,
  make_timestamp(arrived_us // 3600000000 * 3600000000) as hour_utc,
  day as day_utc,
  deployment,
  instance,
  model,
  session_id,
  input_tokens,
  cached_tokens,
  input_tokens - cached_tokens as miss_tokens,
  cached_device_tokens,
  cached_host_tokens,
  cached_storage_tokens,
  cache_write_tokens,
  output_tokens,
  queue_us,
  prefill_us,
  ttft_us,
  e2e_us,
  queue_us / 1e6 as queue_s,
  prefill_us / 1e6 as prefill_s,
  ttft_us / 1e6 as ttft_s,
  e2e_us / 1e6 as e2e_s,
  cached_tokens / nullif(input_tokens, 0) as request_hit_rate,
  ttft_basis,
  cached_basis,
  status,
  outcome,
  source_name,
  source_file,
  source_line,
  source_sha256
from lake
