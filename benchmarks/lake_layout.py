"""How files of the lake are best laid out: order of rows, size of row groups, compression. Figures: README.md.

    PYTHONPATH=.:benchmarks python benchmarks/lake_layout.py [REQUESTS]

One file of a day's requests for every layout: CPU seconds to write it, its size, CPU milliseconds of four questions,
each asked nine times of it, the median told, with the row groups that were read.
"""

from __future__ import annotations

import re
import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

import duckdb
from sql_fleet import DAY_0, staged_sql

HOUR_US = 3_600_000_000
MIDNIGHT_US = (DAY_0 * 24) * HOUR_US
BY_DEPLOYMENT = "order by deployment, arrived_us, request_id"
ZSTD = "compression zstd"
LAYOUTS = [
    ("arrival", "", 32_768, ZSTD),
    ("arrival", "", 122_880, ZSTD),
    ("arrival", "", 500_000, ZSTD),
    ("deployment, arrival", BY_DEPLOYMENT, 32_768, ZSTD),
    ("deployment, arrival", BY_DEPLOYMENT, 122_880, ZSTD),
    ("deployment, arrival", BY_DEPLOYMENT, 500_000, ZSTD),
    ("arrival", "", 122_880, "compression snappy"),
    ("arrival", "", 122_880, "compression zstd, compression_level 1"),
    ("arrival", "", 122_880, "compression zstd, compression_level 9"),
]
QUESTIONS = {
    "one deployment": """select quantile_disc(ttft_us, 0.95), sum(cached_tokens) from lake
        where deployment = 'deployment-20'""",
    "one session": """select count(*), sum(input_tokens) from lake
        where deployment = 'deployment-20' and session_id = (select max(session_id) from one)""",
    "a quarter of an hour": f"""select deployment, sum(cached_tokens), sum(input_tokens) from lake
        where arrived_us >= {MIDNIGHT_US + HOUR_US} and arrived_us < {MIDNIGHT_US + HOUR_US * 5 // 4}
        group by deployment""",
    "all instances": """select deployment, instance, quantile_disc(ttft_us, 0.5), sum(cached_tokens) from lake
        group by deployment, instance""",
}


def cpu_s() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main(n_requests: int) -> None:
    """Print a row of a table for every layout."""
    connection = duckdb.connect(config={"memory_limit": "4GiB", "threads": 2})
    connection.execute(f"create table day as select * exclude (reason) from ({staged_sql(n_requests, 0, 0)[0]})")
    connection.execute("create table one as select session_id from day where deployment = 'deployment-20' limit 500")
    print(f"| rows in order of | row group | compression | write CPU s | MB | {' | '.join(QUESTIONS)} |")
    print("|---" * (5 + len(QUESTIONS)) + "|")
    with tempfile.TemporaryDirectory() as folder:
        for number, (order, order_sql, n_rows, compression) in enumerate(LAYOUTS):
            file = Path(folder) / f"{number}.parquet"
            before = cpu_s()
            connection.execute(
                f"copy (select * from day {order_sql}) to '{file}' "
                f"(format parquet, {compression}, parquet_version v2, row_group_size {n_rows})"
            )
            cells = [f"{cpu_s() - before:.1f}", f"{file.stat().st_size / 1e6:.1f}"]
            connection.execute(f"create or replace view lake as select * from '{file}'")
            for text in QUESTIONS.values():
                costs = []
                for _ in range(9):
                    before = cpu_s()
                    connection.execute(text).fetchall()
                    costs.append(1000 * (cpu_s() - before))
                plan = connection.execute(f"explain analyze {text}").fetchall()[-1][-1]
                groups = re.findall(r"Row Groups Scanned: (\d+) / (\d+)", plan)
                read = max(groups, key=lambda pair: int(pair[1]))
                cells.append(f"{statistics.median(costs):.0f} ({read[0]}/{read[1]})")
            print(
                f"| {order} | {n_rows:,} | {compression.removeprefix('compression ')} | {' | '.join(cells)} |",
                flush=True,
            )


if __name__ == "__main__":
    started = time.monotonic()
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
    print(f"\n{time.monotonic() - started:.0f} s, CPU {cpu_s():.0f} s")
