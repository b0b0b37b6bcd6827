-- name: checks/requests_profile
-- grain: deployment × hour
-- params: from_us BIGINT, to_us BIGINT
-- reads: requests
-- units: counts; coverage = share of the served requests that report cached_tokens, 1 where none is served
-- why: what the contract of the requests is about, counted
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
  count(*) filter (where ttft_us > e2e_us)::bigint as n_ttft_over_e2e,
  count(*) filter (where prefill_us > ttft_us)::bigint as n_prefill_over_ttft,
  count(*) filter (where arrived_us is null or source_file is null or source_line is null)::bigint as n_no_origin,
  coalesce(
    count(*) filter (where outcome = 'ok' and cached_tokens is not null)
    / nullif(count(*) filter (where outcome = 'ok'), 0),
    1.0
  ) as coverage
from requests
where arrived_us >= $from_us and arrived_us < $to_us
group by deployment, arrived_us // 3600000000
order by deployment, hour_index
