-- name: ingest/contradictions
-- grain: contradiction between the staged file as a whole and how it was read; least_us is the smallest value it shows in
-- params: doubts_units BOOLEAN (false where the source declares its unit itself), from_us BIGINT, to_us BIGINT (plausible
--         arrivals), least_arrivals BIGINT (fewer lines say nothing about their epoch)
-- reads: staged
-- units: counts of lines; microseconds
-- why: a log read in the wrong sense gives numbers that look right, and refusing the lines that give it away would leave
--      those that do not: low hit rates where the input leaves the cached tokens out. Durations are doubted where most of
--      at least 20 are faster or slower than anything that serves: a first token within 1 ms (a forward pass takes more),
--      25,000 output tokens/s for one request (the fastest announced, a hardwired 8B model, makes 17,000), 10 million
--      computed prompt tokens/s; or 5 s per output token, an hour to the first (weights read from disk are as slow). After
--      the first token the rate of output counts only in responses under 10 ms: a proxy may pass longer ones on in a burst
with observed as (
  select
    'more_cached_than_input' as contradiction,
    deployment,
    source_line,
    reason is not null as is_against,
    null::bigint as value_us
  from staged
  where cached_tokens > 0 and input_tokens is not null and (reason is null or reason = 'cached_exceeds_input')
  union all
  select
    'first_token_after_end',
    null,
    source_line,
    ttft_us > e2e_us + 1000 and 100 * ttft_us > 101 * e2e_us,
    ttft_us
  from staged
  where $doubts_units and reason is null and ttft_us is not null and e2e_us is not null
  union all
  select
    'first_token_too_soon',
    null,
    source_line,
    ttft_us < 1000,
    ttft_us
  from staged
  where $doubts_units and reason is null and outcome = 'ok' and input_tokens > 0 and ttft_us is not null
  union all
  select
    'prompt_too_fast',
    null,
    source_line,
    10 * ttft_us < input_tokens - coalesce(cached_tokens, 0),
    ttft_us
  from staged
  where
    $doubts_units
    and reason is null
    and outcome = 'ok'
    and ttft_us is not null
    and input_tokens - coalesce(cached_tokens, input_tokens) >= 1024
  union all
  select
    'output_too_fast',
    null,
    source_line,
    e2e_us < 40 * output_tokens
    or coalesce(e2e_us < 10000 and ttft_us < e2e_us and e2e_us - ttft_us < 40 * output_tokens, false),
    e2e_us // output_tokens
  from staged
  where $doubts_units and reason is null and outcome = 'ok' and output_tokens >= 16 and e2e_us is not null
  union all
  select
    'end_too_soon',
    null,
    source_line,
    e2e_us < 1000,
    e2e_us
  from staged
  where $doubts_units and reason is null and outcome = 'ok' and output_tokens > 0 and e2e_us is not null
  union all
  select
    'output_too_slow',
    null,
    source_line,
    e2e_us - ttft_us > 5000000 * output_tokens,
    (e2e_us - ttft_us) // output_tokens
  from staged
  where
    $doubts_units
    and reason is null
    and outcome = 'ok'
    and output_tokens >= 16
    and e2e_us >= ttft_us
  union all
  select
    'first_token_too_late',
    null,
    source_line,
    ttft_us > 3600000000,
    ttft_us
  from staged
  where $doubts_units and reason is null and outcome = 'ok' and ttft_us is not null
  union all
  select
    'over_a_day',
    null,
    source_line,
    reason is not null,
    null
  from staged
  where $doubts_units and (reason is null or reason = 'latency_over_a_day')
  union all
  select
    'arrivals_out_of_range',
    null,
    source_line,
    arrived_us is null or arrived_us not between $from_us and $to_us,
    arrived_us
  from staged
  where
    reason is null
    or reason in ('timestamp_before_2020', 'timestamp_in_the_future', 'timestamp_not_understood')
),

counted as (
  select
    contradiction,
    deployment,
    count(*) filter (where is_against)::bigint as n_lines,
    count(*)::bigint as of_lines,
    min_by(source_line, source_line, 3) filter (where is_against) as first_lines,
    min(value_us) filter (where is_against)::bigint as least_us
  from observed
  group by contradiction, deployment
)

select
  contradiction,
  deployment,
  n_lines,
  of_lines,
  first_lines,
  least_us
from counted
where
  case
    when contradiction in ('more_cached_than_input', 'first_token_after_end') then is_systematic(n_lines, of_lines)
    when contradiction = 'arrivals_out_of_range' then n_lines = of_lines and of_lines >= $least_arrivals
    else of_lines >= 20 and 2 * n_lines > of_lines
  end
order by contradiction, n_lines desc, deployment
