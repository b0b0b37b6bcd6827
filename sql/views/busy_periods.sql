-- name: views/busy_periods
-- grain: deployment × instance × basis × busy period × minute
-- params: none
-- reads: mart.busy_periods
-- units: microseconds; tokens; attention2 = Σ(2·M·P + M²) in tokens²; steps_C = Σ greatest(1, ceil(M/C)) in steps
-- about: busy seconds of each instance and the tokens they served: what curves are fitted on
-- why: the regression rows of the curve, and the steps by which the chunk size of an engine that does not pack is found
-- comments:
--   deployment: what served: a model, its configuration and its hardware pool
--   instance: the replica
--   ttft_basis: where times are taken: engine, gateway, client
--   cached_basis: where cached tokens come from: measured, predicted, simulated
--   basis_rank: order of preference of the two bases: curves use the smallest of a deployment
--   period_id: instant the busy period began [microseconds since 1970-01-01T00:00:00Z]
--   minute_utc: start of the UTC minute of the first tokens
--   begins_period: 1 where the period began in this row, else 0
--   busy_us: time with at least one request waiting for or in prefill [microseconds]
--   n_requests: requests whose first token came in the minute [requests]
--   n_unreported: those of them that report no cached_tokens [requests]; a curve leaves such rows out
--   input_tokens: their prompt tokens, cached ones included [tokens]
--   cached_tokens: their cached prompt tokens [tokens]
--   miss_tokens: their computed prompt tokens [tokens]
--   output_tokens: their generated tokens [tokens]
--   attention2: sum of 2 × miss × cached + miss², twice the attention work [tokens²]
--   steps_1024: prefill steps of 1024 tokens that the requests take alone [steps]
--   steps_2048: prefill steps of 2048 tokens that the requests take alone [steps]
--   steps_4096: prefill steps of 4096 tokens that the requests take alone [steps]
--   steps_8192: prefill steps of 8192 tokens that the requests take alone [steps]
--   steps_16384: prefill steps of 16384 tokens that the requests take alone [steps]
--   steps_32768: prefill steps of 32768 tokens that the requests take alone [steps]
select
  deployment,
  instance,
  ttft_basis,
  cached_basis,
  basis_rank,
  period_id,
  make_timestamp(minute_index * 60000000) as minute_utc,
  begins_period,
  busy_us,
  n_requests,
  n_unreported,
  input_tokens,
  cached_tokens,
  miss_tokens,
  output_tokens,
  attention2,
  steps_1024,
  steps_2048,
  steps_4096,
  steps_8192,
  steps_16384,
  steps_32768
from mart.busy_periods
