"""A warehouse of any number of requests: 40 deployments, 30 days, for `sql.py`. Made by SQL, not by logs.

The lake is written by the product's own `write_parquet`, the hourly marts and the busy periods by its own statements.
Curves, verdicts, money and alerts are plain inserts that follow from the hourly marts by one law per deployment: fits
are what `fit.py` measures. Queues are drawn, not simulated.
"""

from __future__ import annotations

import hashlib
import resource
import time
from datetime import date, timedelta
from pathlib import Path

import duckdb

from pipelines import marts
from pipelines.lake import MARTS_BY_HOUR
from pipelines.warehouse import Warehouse

FIRST_DAY = date(2026, 10, 30)
DAYS, DEPLOYMENTS, FILES_PER_DAY = 30, 40, 4
DAY_0 = (FIRST_DAY - date(1970, 1, 1)).days

STAGED = """
with dice as (
  select
    i,
    hash(i) as h,
    hash(i + 1000000007) as g,
    hash(i) % 1000003 / 1000003 as u,
    hash(i + 77) % 1000003 / 1000003 as v,
    hash(i + 999) % 1000003 / 1000003 as w
  from range({first}, {last}) as numbers(i)
),

drawn as (
  select
    i,
    h,
    g,
    v,
    w,
    {from_us} + cast((i - {first}) * {step_us} as bigint) + cast(g % 20000 as bigint) as arrived_us,
    cast(floor({deployments} * pow(u, 1.5)) as bigint) as d,
    16 + cast(12000 * v * v * v + 3000 * w as bigint) as input_tokens
  from dice
),

cached as (
  select
    *,
    case when g % 50 > 0 then
      cast(input_tokens * sqrt((h % 4093) / 4093) * (0.62 + 0.3 * cos(arrived_us / 1.375e10)) as bigint) // 16 * 16
    end as cached_tokens
  from drawn
)

select
  format('{{:016x}}{{:016x}}', h, g) as request_id,
  arrived_us,
  format('deployment-{{:02}}', d) as deployment,
  format('i-{{}}', h // 4096 % 2) as instance,
  format('model-{{}}', d % 6) as model,
  case when d % 5 > 0 then format('session-{{:x}}-{{:02}}', i // 320, d) end as session_id,
  input_tokens,
  cached_tokens,
  case when d % 4 = 0 then cached_tokens * 3 // 4 end as cached_device_tokens,
  case when d % 4 = 0 then cached_tokens - cached_tokens * 3 // 4 end as cached_host_tokens,
  case when d % 4 = 0 then cached_tokens * 0 end as cached_storage_tokens,
  null::bigint as cache_write_tokens,
  cast(20 + g % 800 as bigint) as output_tokens,
  null::bigint as queue_us,
  null::bigint as prefill_us,
  cast(200000 + 60 * (input_tokens - coalesce(cached_tokens, 0)) + 6e6 * w * w * w * w as bigint) as ttft_us,
  cast(200000 + 60 * input_tokens + 6e6 * w * w * w * w + 2e4 * (20 + g % 800) as bigint) as e2e_us,
  'gateway' as ttft_basis,
  'measured' as cached_basis,
  case when g % 100 = 7 then '503' when g % 200 = 8 then '499' else '200' end as status,
  case when g % 100 = 7 then 'failed' when g % 200 = 8 then 'aborted' else 'ok' end as outcome,
  'gateway' as source_name,
  '{source_file}' as source_file,
  i - {first} + 1 as source_line,
  '{sha256}' as source_sha256,
  null::varchar as reason
from cached
"""

PRICES = "2.0 as input_per_mtok, 0.2 as cached_per_mtok, 'USD' as currency"
HOURS = f"""
create temp table hours as
select
  *, {PRICES}, cast(right(deployment, 2) as bigint) as d, cached_tokens / reported_input_tokens as x, 0.65 as a,
  hour_index // 24 as day_index
from mart.hourly_hit_rate
"""
CURVE = """
  deployment, day_index, 'busy_periods' as estimator, 'busy_s' as target, 'line' as family,
  4000 as reference_input_tokens, 9000 + 100 * d as tps0, 8900 + 100 * d as tps0_low, 9100 + 100 * d as tps0_high,
  a, a - 0.02 as a_low, a + 0.02 as a_high, 0.02 as f, 4e-5 as c, 4e-9 as q, 4e-6 as k,
  0.97 as line_good_until_hit_rate,
  100000 as n_minutes, sum(n_requests) as n_requests, 0.1 as x_low, 0.9 as x_high, 0.05 as residual_scale,
  min(hour_index) - 144 as window_from_hour, case when d % 9 = 1 then 24 * day_index end as changed_at_hour,
  case when d % 9 = 1 then 0.1 end as change_size, case when d % 9 = 1 then 'level' end as changed,
  'model-' || d % 6 as model, d % 8 > 0 as trustworthy, case when d % 8 > 0 then '' else 'too_few' end as reasons
"""
INSERTS = {
    "mart.throughput_curve": f"select {CURVE} from hours group by all",
    "mart.curve_candidates": f"select {CURVE}, true as is_chosen from hours group by all",
    "mart.curve_by_length": """
        select deployment, day_index, band, 1000 * band as low_input_tokens, 1000 * band + 999 as high_input_tokens,
          1000 * band + 500 as median_input_tokens, 9000 + d as tps0, a, 9000 as n_minutes, true as agrees
        from hours, range(8) as bands(band) where hour_index % 24 = 0""",
    "mart.curve_families": """
        select deployment, day_index, family, 0.1 as error, 9000 as tps0, a, family = 'line' as is_kept
        from hours, (values ('line'), ('flat'), ('bent')) as shapes(family) where hour_index % 24 = 0""",
    "mart.curve_draws": """
        select deployment, day_index, draw, 0.02 as f, 4e-5 as c, 4e-9 as q, 4e-6 as k
        from hours, range(500) as draws(draw) where hour_index % 24 = 0""",
    "mart.valley_status": """
        select deployment, hour_index, x as hit_rate, x as mean_request_hit_rate, x as busy_hit_rate,
          0.1 as price_ratio, input_per_mtok, cached_per_mtok, 1 as n_prices, miss_tokens * 2e-6 as miss_revenue,
          cached_tokens * 2e-7 as cached_revenue, cached_tokens * 2e-6 as cached_at_miss_price,
          miss_tokens * 2e-7 as miss_at_cached_price, 'input' as revenue_scope, 'p1' as price_hash,
          (1 - a * x) * (1 - 0.9 * x) / (1 - x) as revenue_index, 0.7 as index_low, 1.1 as index_high,
          0.8 as p_in_valley, 0.6 as floor_hit_rate, 0.94 as exit_hit_rate, 0.2 as floor_depth, 0.9 as p_valley,
          -0.4 as marginal_index, 'descending' as side, 'capacity_limited' as regime, 0.5 + d / 100 as busy_share,
          40 * (1 - (1 - a * x) * (1 - 0.9 * x) / (1 - x)) as lost_per_hour, currency, '' as reasons,
          case when hour_index % 24 < 9 then 'in_valley' else 'escaped' end as state,
          hour_index % 24 < 9 as is_in_valley,
          hour_index % 50 = 3 as is_held, 0 as enter_streak, 0 as leave_streak
        from hours""",
    "mart.profit_and_loss": """
        select deployment, hour_index, n_requests, 0 as n_unknown, miss_tokens * 2e-6 as miss_revenue,
          cached_tokens * 2e-7 as cached_revenue, output_tokens * 8e-6 as output_revenue,
          miss_tokens * 2e-6 + cached_tokens * 2e-7 + output_tokens * 8e-6 as gross_revenue,
          cached_tokens * 1.8e-6 as discount_given, 2 as instance_hours, 8 as cost,
          miss_tokens * 2e-6 + cached_tokens * 2e-7 + output_tokens * 8e-6 - 8 as margin, false as is_loss,
          1800000000 as busy_us, cached_tokens * 3e-5 as saved_busy_s, 20 * (0.4 - x) as cache_value,
          20 * (0.3 - x) as cache_value_low, 20 * (0.5 - x) as cache_value_high, currency, '' as reasons
        from hours""",
    "mart.profit_breakdown": """
        select deployment, hour_index, 'model-' || d % 6 as model, 4096 * 4 ** band as input_tokens_from,
          n_requests // 4 as n_requests, 0 as n_unknown, reported_input_tokens // 4 as reported_input_tokens,
          miss_tokens // 4 as miss_tokens, cached_tokens // 4 as cached_tokens, miss_tokens * 5e-7 as miss_revenue,
          cached_tokens * 5e-8 as cached_revenue, output_tokens * 2e-6 as output_revenue,
          miss_tokens * 5e-7 + cached_tokens * 5e-8 + output_tokens * 2e-6 as gross_revenue, currency
        from hours, range(4) as bands(band)""",
    "mart.valley_episodes": """
        select deployment, min(hour_index) as entered_hour_index, max(hour_index) + 1 as left_hour_index,
          count(*) as n_hours, 0 as n_held_hours, 0.2 as peak_depth, min(hour_index) as deepest_hour_index,
          100 * d as lost_total, currency, 1 as policy_version, deployment || day_index as dedup_key
        from hours where hour_index % 24 < 9 group by deployment, d, day_index, currency""",
    "ops.alert_outbox": """
        select dedup_key, 'entered' as kind, 'trigger' as action, 0 as level, deployment,
          entered_hour_index as hour_index, 0.2 as depth, 'in the valley' as message,
          entered_hour_index * 3600000000 as written_us from mart.valley_episodes""",
    "ops.alert_deliveries": """
        select dedup_key, kind, level, channel, 'sent' as status, 1 as attempts, written_us as settled_us
        from ops.alert_outbox, (values ('slack'), ('pager')) as channels(channel)""",
    "ops.findings": """
        select distinct day_index, contract, 'expectation ' || n as expectation, 'warn' as severity, n > 0 as passed,
          'found' as detail
        from hours, range(9) as numbers(n), (values ('requests'), ('files'), ('marts')) as contracts(contract)""",
    "mart.price_book": f"""
        select distinct deployment, 0 as effective_from_us, 0 as input_tokens_from, {PRICES}, 'list' as source
        from mart.hourly_hit_rate""",
    "mart.price_history": f"""
        select 'p1' as price_hash, 0 as from_minute, 60 as to_minute, 0 as input_tokens_from, {PRICES},
          'list' as source, 0 as first_seen_us""",
    "ops.ingest_files": """
        select content_sha256, file as path, 'gateway' as source_name, 'canonical' as format,
          'grown' as reading, size_bytes, 0 as modified_ns, 'loaded' as status, n_requests as lines,
          n_requests as loaded, 0 as duplicates, 0 as quarantined, 0 as blank, n_requests as content_bytes,
          (day_index + 1) * 86400000000 as loaded_us from loaded_files""",
    "ops.quarantine": """
        select content_sha256, file as source_file, n as source_line, 'no_tokens' as reason,
          (day_index + 1) * 86400000000 as refused_us
        from loaded_files, range(40) as numbers(n)""",
}


def lap(what: str, since: tuple[float, float]) -> tuple[float, float]:
    """Print wall and CPU seconds since the last lap; return the present ones."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    now = (time.monotonic(), usage.ru_utime + usage.ru_stime)
    print(f"{what}: {now[0] - since[0]:.0f} s, CPU {now[1] - since[1]:.0f} s", flush=True)
    return now


def staged_sql(n_per_file: int, day: int, part: int) -> tuple[str, str]:
    """Return the select of one log file's rows, in the order of their arrival, and the file's hash."""
    number = day * FILES_PER_DAY + part
    span_us = 86_400_000_000 // FILES_PER_DAY
    source_file = f"/var/log/gateway/{FIRST_DAY + timedelta(days=day)}.{part}.jsonl"
    sha256 = hashlib.sha256(source_file.encode()).hexdigest()
    text = STAGED.format(
        first=number * n_per_file, last=(number + 1) * n_per_file, deployments=DEPLOYMENTS, source_file=source_file,
        from_us=(DAY_0 + day) * 86_400_000_000 + part * span_us, step_us=(span_us - 20_000) / n_per_file, sha256=sha256,
    )  # fmt: skip
    return text, sha256


def logs() -> list[tuple[str, str]]:
    """Return the lake's file of each log, in the order of their requests, and the hash of the log."""
    found = []
    for day in range(DAYS):
        for part in range(FILES_PER_DAY):
            sha256 = staged_sql(1, day, part)[1]
            found.append((f"lake/day={FIRST_DAY + timedelta(days=day)}/{sha256[:16]}.parquet", sha256))
    return found


def write_lake(warehouse: Warehouse, n_requests: int) -> None:
    """Write and list the files of all days, and mark their hours, as `valleywatch run` would after reading the logs."""
    n_per_file = n_requests // (DAYS * FILES_PER_DAY)
    maker = duckdb.connect(config={"memory_limit": "1GiB"})
    with warehouse.writer() as writer:
        for day in range(DAYS):
            with writer.transaction():
                for part in range(FILES_PER_DAY):
                    text, _ = staged_sql(n_per_file, day, part)
                    relative = Path(logs()[day * FILES_PER_DAY + part][0])
                    with writer.registered("staged", maker.sql(text).to_arrow_reader(122_880)):
                        written = writer.write_parquet("ingest/fresh_of_day", relative, day_index=DAY_0 + day)
                    row = {"file": str(relative), "day_index": DAY_0 + day, "n_requests": n_per_file}
                    row["last_day_index"] = DAY_0 + day + (part == FILES_PER_DAY - 1)
                    writer.insert_rows("ops.lake_files", [row | written])
                hours = [(DAY_0 + day) * 24 + hour for hour in range(24)]
                marks = [{"mart": mart, "hour_index": hour} for mart in MARTS_BY_HOUR for hour in hours]
                writer.insert_rows("ops.dirty_hours", marks)


def fill_marts(warehouse: Warehouse, busy_days: int) -> None:
    """Make the hourly marts, and busy periods of the newest days, by the product's statements; insert what follows."""
    since = lap("marts begin", (time.monotonic(), 0.0))
    with warehouse.writer() as writer:
        for day in range(DAY_0, DAY_0 + DAYS):
            for mart in ("hourly_hit_rate", "hit_rate_histogram"):
                marts.refresh_hours(writer, mart, day)
        since = lap("hourly marts", since)
        for day in range(DAY_0 + DAYS - busy_days, DAY_0 + DAYS):
            marts.refresh_busy_periods(writer, day)
        lap(f"busy periods of {busy_days} days", since)
    with duckdb.connect(str(warehouse.folder / "warehouse.duckdb")) as connection:
        connection.execute(HOURS)
        names, sums = zip(*logs(), strict=True)
        connection.execute(
            "create temp table logs as select unnest($names) as file, unnest($sums) as content_sha256",
            {"names": list(names), "sums": list(sums)},
        )
        connection.execute("create temp table loaded_files as from ops.lake_files inner join logs using (file)")
        for table, text in INSERTS.items():
            connection.execute(f"insert into {table} by name {text}")
