-- name: views/busy_periods
-- grain: deployment × instance × basis × busy period × minute
-- params: none
-- reads: mart.busy_periods
-- units: microseconds; tokens; attention2 = Σ(2·M·P + M²) in tokens²; steps_C = Σ greatest(1, ceil(M/C)) in steps
-- about: busy seconds of each instance and the tokens they served: what curves are fitted on
-- why: the regression rows of the curve, and the steps by which the chunk size of an engine that does not pack is found
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
