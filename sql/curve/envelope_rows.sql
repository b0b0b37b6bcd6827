-- name: curve/envelope_rows
-- grain: request
-- params: deployment VARCHAR, from_us BIGINT, to_us BIGINT (arrivals in [from_us, to_us)), rows_per_size BIGINT
-- reads: requests
-- units: microseconds; tokens
-- why: the requests that an envelope is fitted to: about rows_per_size of each basis and each power of two of computed and
--      cached tokens, all where there are fewer. Which ones follows from their ids, so that the same requests give the
--      same rows in any order of arrival: a lot of 0 to 65535 from the first four digits of md5. What was timed or counted
--      at different places is told apart by basis_rank, as in mart.busy_periods: only the smallest is to be used
with timed as (
  select
    arrived_us // 60000000 as minute_index,
    case cached_basis when 'measured' then 0 when 'declared' then 0 when 'predicted' then 10 else 20 end
    + case ttft_basis when 'engine' then 0 when 'gateway' then 1 when 'client' then 2 else 3 end as basis_rank,
    ttft_us,
    e2e_us,
    input_tokens - cached_tokens as miss_tokens,
    cached_tokens,
    output_tokens,
    ttft_us is null as is_without_ttft,
    length(bin(input_tokens - cached_tokens + 1)) - 1 as miss_bin,
    length(bin(cached_tokens + 1)) - 1 as cached_bin,
    4096 * (strpos('0123456789abcdef', substr(md5(request_id), 1, 1)) - 1)
    + 256 * (strpos('0123456789abcdef', substr(md5(request_id), 2, 1)) - 1)
    + 16 * (strpos('0123456789abcdef', substr(md5(request_id), 3, 1)) - 1)
    + (strpos('0123456789abcdef', substr(md5(request_id), 4, 1)) - 1) as lot
  from requests
  where
    deployment = $deployment
    and arrived_us >= $from_us
    and arrived_us < $to_us
    and outcome = 'ok'
    and input_tokens > 0
    and cached_tokens is not null
    and (ttft_us is not null or e2e_us is not null)
),

sizes as (
  select basis_rank, is_without_ttft, miss_bin, cached_bin, count(*) as n_requests
  from timed
  group by basis_rank, is_without_ttft, miss_bin, cached_bin
)

select
  timed.minute_index,
  timed.basis_rank,
  timed.ttft_us,
  timed.e2e_us,
  timed.miss_tokens,
  timed.cached_tokens,
  timed.output_tokens
from timed
inner join sizes
  on
    timed.basis_rank = sizes.basis_rank
    and timed.is_without_ttft = sizes.is_without_ttft
    and timed.miss_bin = sizes.miss_bin
    and timed.cached_bin = sizes.cached_bin
where timed.lot * sizes.n_requests < 65536 * $rows_per_size
