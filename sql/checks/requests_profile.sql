-- name: checks/requests_profile
-- grain: deployment × hour
-- params: from_us BIGINT, to_us BIGINT
-- reads: requests
-- units: counts
-- why: what the contract of the requests says must be zero, counted; block
select
  deployment,
  arrived_us // 3600000000 as hour_index,
  count(*)::bigint as n_requests,
  (count(*) - count(distinct request_id))::bigint as n_repeated_ids,
  count(*) filter (where outcome = 'ok' and input_tokens is null)::bigint as n_missing_input,
  count(*) filter (where cached_tokens > input_tokens)::bigint as n_cached_over_input,
  count(*) filter (
    where input_tokens < 0 or cached_tokens < 0 or output_tokens < 0 or cache_write_tokens < 0
  )::bigint as n_negative_tokens,
  count(*) filter (
    where queue_us < 0 or prefill_us < 0 or ttft_us < 0 or e2e_us < 0
  )::bigint as n_negative_latency,
  count(*) filter (where arrived_us is null or source_file is null or source_line is null)::bigint as n_no_origin
from requests
where arrived_us >= $from_us and arrived_us < $to_us
group by deployment, arrived_us // 3600000000
order by deployment, hour_index
