"""The cookbook on a large warehouse, beside DuckDB and ClickHouse on one flat Parquet file. Figures: README.md.

    PYTHONPATH=.:benchmarks python benchmarks/sql.py make FOLDER [REQUESTS [BUSY_DAYS]]
    PYTHONPATH=.:benchmarks python benchmarks/sql.py ask FOLDER [PYTHON_WITH_CHDB]

`make` writes the warehouse and the flat file, in the order of arrival; `ask` prints the tables. Every question is asked
three times in one process with files in the page cache, or as often as `PATIENCE_S` allow; the median is told.
"""

from __future__ import annotations

import json
import re
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import duckdb
import sql_fleet
import sql_peers

from pipelines.adhoc import cookbook
from pipelines.warehouse import Warehouse

N_TIMES = 3
PATIENCE_S = 6.0
MEMORY = "4GiB"
END_US = (sql_fleet.DAY_0 + sql_fleet.DAYS) * 86_400_000_000
ONE_DAY = """
select deployment, sum(cached_tokens) / sum(input_tokens), quantile_disc(ttft_us, 0.95)
from requests where {0} and deployment = 'deployment-20' group by deployment"""
NEWEST_DAY = datetime.fromtimestamp(END_US / 1e6 - 86_400, tz=UTC).date()
FILTERS = {
    "hour_utc": f"hour_utc >= timestamp '{NEWEST_DAY}'",
    "arrived_us": f"arrived_us >= {END_US - 86_400_000_000}",
    "day_utc": f"day_utc = date '{NEWEST_DAY}'",
}

Costs = list[tuple[float, float]]


def cpu_s() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def make(folder: Path, n_requests: int, busy_days: int) -> None:
    """Write the warehouse, publish it, and write the flat file."""
    warehouse = Warehouse(folder / "warehouse", memory_limit=MEMORY)
    since = sql_fleet.lap("begin", (time.monotonic(), cpu_s()))
    sql_fleet.write_lake(warehouse, n_requests)
    since = sql_fleet.lap("lake", since)
    sql_fleet.fill_marts(warehouse, busy_days)
    since = sql_fleet.lap("marts and inserts", since)
    with warehouse.writer() as writer:
        writer.publish()
    since = sql_fleet.lap("publish", since)
    flatten(warehouse, folder / "flat.parquet")
    sql_fleet.lap("flat file", since)


def flatten(warehouse: Warehouse, flat: Path) -> None:
    """Write all requests into one Parquet file, in the order of arrival."""
    files = [str(warehouse.folder / file) for file, _ in sql_fleet.logs()]
    with duckdb.connect(config={"memory_limit": MEMORY}) as connection:
        connection.execute(
            f"copy (select * exclude (day) from read_parquet($files)) to '{flat}' (format parquet, compression zstd)",
            {"files": files},
        )


def timed(ask: Callable[[], list[tuple[Any, ...]]]) -> tuple[Costs, list[tuple[Any, ...]]]:
    """Ask up to `N_TIMES` times; return wall and CPU seconds of each, and the answer."""
    costs: Costs = []
    while len(costs) < N_TIMES and sum(wall_s for wall_s, _ in costs) < PATIENCE_S:
        before = time.monotonic(), cpu_s()
        rows = ask()
        costs.append((time.monotonic() - before[0], cpu_s() - before[1]))
    return costs, rows


def told(costs: Costs) -> str:
    """Return median wall and CPU milliseconds."""
    return " / ".join(f"{1000 * statistics.median(cost[part] for cost in costs):,.0f}" for part in (0, 1))


def pruned(plan: str) -> str:
    """Return what an analysed plan says of the lake: files and row groups read of those there, and bytes."""
    scans = re.findall(r"Total Files Read: (\d+)|Row Groups Scanned: (\d+) / (\d+)", plan)
    files = [int(number) for number, _, _ in scans if number]
    groups = [(int(read), int(there)) for _, read, there in scans if there]
    read = re.search(r"Data Read: +([\d.]+ \w+)", plan)
    parts = [f"{sum(files)} files" if files else "tables", f"{sum(g[0] for g in groups)}/{sum(g[1] for g in groups)}"]
    return ", ".join([*parts, read[1] if read else "?"])


def plain(rows: list[Any]) -> list[list[Any]]:
    """Return rows that can be compared between engines: numbers to five digits."""

    def value(cell: Any) -> Any:
        if cell is None or (isinstance(cell, str) and not re.fullmatch(r"[\d.e+-]+", cell)):
            return cell
        return f"{float(cell):.5g}"

    return [[value(cell) for cell in row] for row in rows]


def ask(folder: Path, peer_python: str | None) -> None:
    """Print a row for every question."""
    warehouse = Warehouse(folder / "warehouse", memory_limit=MEMORY)
    flat = folder / "flat.parquet"
    from_us = END_US - 7 * 86_400_000_000
    clickhouse = _ask_chdb(peer_python, flat, from_us) if peer_python else {}
    before = time.monotonic()
    with warehouse.reader() as reader:
        n_requests = reader.ask("select count(*) from requests")[1][0][0]
        print(f"{n_requests:,} requests; opened and counted in {1000 * (time.monotonic() - before):.0f} ms\n")
        print("| question | ms: wall / CPU | files, row groups, bytes | flat DuckDB | bytes | chdb | answers |")
        print("|---|---|---|---|---|---|---|")
        with duckdb.connect(config={"memory_limit": MEMORY}) as connection:
            for name, question in cookbook.questions().items():
                params = question.bound([])
                costs, rows = timed(lambda q=question, p=params: list(reader.answer(q.text, p).rows()))
                plan = next(iter(reversed(list(reader.answer(f"explain analyze {question.text}", params).rows()))))[-1]
                cells = [name, told(costs), pruned(plan)]
                if name in sql_peers.QUESTIONS:
                    text = sql_peers.rewritten(name, engine="duckdb", rows=f"'{flat}'", from_us=from_us)
                    peer_costs, peer_rows = timed(lambda t=text: connection.execute(t).fetchall())
                    peer_plan = connection.execute(f"explain analyze {text}").fetchall()[-1][-1]
                    agree = plain(peer_rows) == plain(rows)
                    cells += [told(peer_costs), pruned(peer_plan).split(", ", 1)[1]]
                    if name in clickhouse:
                        agree = agree and plain(clickhouse[name]["rows"]) == plain(rows)
                        cells.append(told(clickhouse[name]["costs"]))
                    cells.append("same" if agree else "differ")
                print(f"| {' | '.join(cells)} |", flush=True)
        print(
            "\n| one deployment's newest day, filtered on | ms: wall / CPU | files, row groups, bytes |\n|---|---|---|"
        )
        for column, condition in FILTERS.items():
            text = ONE_DAY.format(condition)
            costs, _ = timed(lambda t=text: reader.ask(t)[1])
            print(f"| {column} | {told(costs)} | {pruned(reader.ask(f'explain analyze {text}')[1][-1][-1])} |")


def _ask_chdb(python: str, flat: Path, from_us: int) -> dict[str, Any]:
    statements = {
        name: sql_peers.rewritten(name, engine="clickhouse", rows=f"file('{flat}', Parquet)", from_us=from_us)
        for name in sql_peers.QUESTIONS
    }
    asked = {
        "statements": statements,
        "n_times": N_TIMES,
        "patience_s": PATIENCE_S,
        "settings": ["max_threads = 2", "max_memory_usage = 4294967296"],
    }
    command = [python, str(Path(__file__).with_name("sql_chdb.py"))]
    answer = subprocess.run(command, input=json.dumps(asked), text=True, check=True, stdout=subprocess.PIPE)
    found: dict[str, Any] = json.loads(answer.stdout)
    return found


if __name__ == "__main__":
    if sys.argv[1] == "make":
        sizes = [int(argument) for argument in sys.argv[3:]]
        make(Path(sys.argv[2]), *sizes, *(100_000_080, sql_fleet.DAYS)[len(sizes) :])
    else:
        ask(Path(sys.argv[2]), sys.argv[3] if len(sys.argv) > 3 else None)
