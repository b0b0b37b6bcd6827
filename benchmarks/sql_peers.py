"""Questions of the cookbook, rewritten on one flat Parquet file, for DuckDB and for ClickHouse. Used by `sql.py`.

Each gives the columns of the cookbook's answer, so that answers can be compared. `quantile` and `whole` stand for what
the engines call differently: a nearest-rank quantile and a division of integers.
"""

from __future__ import annotations

RECENT = "arrived_us >= {from_us} and outcome = 'ok'"
QUESTIONS = {
    "coverage": """
        select deployment, sum(n) as n_requests, sum(r) as n_reported, sum(r) / sum(n), min(r / n), sum(others) from (
          select deployment, {whole[arrived_us, 3600000000]} as hour,
            sum(case when outcome = 'ok' then 1 else 0 end) as n,
            sum(case when outcome = 'ok' and cached_tokens is not null then 1 else 0 end) as r,
            sum(case when outcome in ('ok', 'failed', 'aborted') then 0 else 1 end) as others
          from {rows} where arrived_us >= {from_us} group by deployment, {whole[arrived_us, 3600000000]}) as hours
        group by deployment order by 4, 1""",
    "hit_rates_by_time_of_day": """
        select band / 5 as from_hit_rate, case when band = 5 then 1 else (band + 1) / 5 end as to_hit_rate, n_first,
          n_first / sum(n_first) over (), n_second, n_second / sum(n_second) over ()
        from (
          select case when cached_tokens = input_tokens then 5
              else {whole[cached_tokens * 5, input_tokens]} end as band,
            sum(case when {whole[arrived_us, 3600000000]} % 24 = 2 then 1 else 0 end) as n_first,
            sum(case when {whole[arrived_us, 3600000000]} % 24 = 14 then 1 else 0 end) as n_second
          from {rows} where outcome = 'ok' and cached_tokens is not null group by 1) as banded
        order by 1""",
    "tokens_over_99": """
        select {whole[{whole[arrived_us, 3600000000]} % 24, 3]} * 3 as from_hour, count(*) as n,
          sum(case when cached_tokens * 100 >= input_tokens * 99 then 1 else 0 end) / count(*),
          sum(input_tokens) as tokens,
          sum(case when cached_tokens * 100 >= input_tokens * 99 then input_tokens else 0 end) / sum(input_tokens)
        from {rows} where outcome = 'ok' and cached_tokens is not null group by 1 order by 1""",
    "cache_tiers": """
        select deployment, sum(cached_tokens), count(cached_device_tokens),
          sum(cached_device_tokens) / sum(case when cached_device_tokens is not null then cached_tokens end),
          sum(cached_host_tokens) / sum(case when cached_device_tokens is not null then cached_tokens end),
          sum(cached_storage_tokens) / sum(case when cached_device_tokens is not null then cached_tokens end)
        from {rows} where """ + RECENT + """ group by deployment order by deployment""",
    "instances": """
        select deployment, instance, n, l / sum(l) over (partition by deployment) as share, p / l as hit_rate,
          sum(p) over (partition by deployment) / sum(l) over (partition by deployment) as of_all, t / 1e6
        from (
          select deployment, instance, count(*) as n, sum(input_tokens) as l, sum(cached_tokens) as p,
            {quantile[0.5, ttft_us]} as t
          from {rows} where """ + RECENT + """ and cached_tokens is not null group by deployment, instance) as counted
        order by hit_rate - of_all, deployment, instance limit 8""",
    "requests_by_status": """
        select * from (
          select deployment, outcome, status, n, n / sum(n) over (partition by deployment) as share
          from (
            select deployment, outcome, status, count(*) as n
            from {rows} where arrived_us >= {from_us} group by deployment, outcome, status) as counted) as shares
        where outcome <> 'ok' order by share desc, deployment, status limit 8""",
    "ttft_by_hit_rate": """
        select band / 5, count(*), {quantile[0.5, input_tokens]}, {quantile[0.5, ttft_us]} / 1e6,
          {quantile[0.95, ttft_us]} / 1e6
        from (
          select input_tokens, ttft_us,
            case when cached_tokens = input_tokens then 4 else {whole[cached_tokens * 5, input_tokens]} end as band
          from {rows} where """ + RECENT + """ and cached_tokens is not null and ttft_us is not null) as banded
        group by band order by 1""",
    "tail_sessions": """
        select deployment, session_id, n, n_tail, n_tail / sum(n_tail) over (partition by deployment), longest / 1e6,
          tail_tokens / n_tail, tail_cached / tail_reported
        from (
          select deployment, session_id, count(*) as n, sum(case when is_tail then 1 else 0 end) as n_tail,
            max(ttft_us) as longest, sum(case when is_tail then input_tokens else 0 end) as tail_tokens,
            sum(case when is_tail and cached_tokens is not null then input_tokens else 0 end) as tail_reported,
            sum(case when is_tail then cached_tokens end) as tail_cached
          from (
            select deployment, session_id, ttft_us, input_tokens, cached_tokens,
              row_number() over (partition by deployment order by ttft_us desc, request_id asc)
              <= 0.01 * count(*) over (partition by deployment) as is_tail
            from {rows} where """ + RECENT + """ and ttft_us is not null) as ranked
          group by deployment, session_id) as sessions
        where n_tail > 0 order by n_tail desc, longest desc, deployment, session_id limit 8""",
    "missing_sessions": """
        select deployment, session_id, count(*), sum(input_tokens) as l, sum(cached_tokens) / sum(input_tokens),
          sum(again) as again_tokens, sum(again) / sum(input_tokens)
        from (
          select deployment, session_id, input_tokens, cached_tokens,
            case when before is null then 0 else greatest(least(before, input_tokens) - cached_tokens, 0) end as again
          from (
            select deployment, session_id, input_tokens, cached_tokens,
              max(input_tokens) over (
                partition by deployment, session_id order by arrived_us asc, request_id asc
                rows between unbounded preceding and 1 preceding) as before
            from {rows}
            where """ + RECENT + """ and session_id is not null and cached_tokens is not null) as ordered) as repeated
        group by deployment, session_id having sum(again) > 0
        order by again_tokens desc, deployment, session_id limit 8""",
}  # fmt: skip


class _Words:
    """`{word[a, b]}` in a format string."""

    def __init__(self, pattern: str) -> None:
        self._pattern = pattern

    def __getitem__(self, arguments: str) -> str:
        first, _, second = arguments.rpartition(", ")
        return self._pattern.format(first, second)


def rewritten(name: str, *, engine: str, rows: str, from_us: int) -> str:
    """Return the statement of a question for `duckdb` or `clickhouse`."""
    whole, quantile = {
        "duckdb": ("({0}) // ({1})", "quantile_disc({1}, {0})"),
        "clickhouse": ("intDiv({0}, {1})", "quantileExactLow({0})({1})"),
    }[engine]
    hour_of_day = _Words(whole)["arrived_us, 3600000000"] + " % 24"
    text = QUESTIONS[name].replace("{whole[{whole[arrived_us, 3600000000]} % 24, 3]}", whole.format(hour_of_day, 3))
    return text.format(whole=_Words(whole), quantile=_Words(quantile), rows=rows, from_us=from_us)
