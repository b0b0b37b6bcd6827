"""The hourly marts of one day on both engines: CPU of all their processes, peak memory, wall. Figures: README.md.

    PYTHONPATH=.:benchmarks python benchmarks/spark.py make FOLDER REQUESTS
    PYTHONPATH=.:benchmarks python benchmarks/spark.py compare FOLDER [ENGINE …]

`make` writes one day's lake into a warehouse; `compare` makes its marts with each engine in a process of its own and
says whether they are equal. Engines: `duckdb:MEMORY`, `duckdb:MEMORY:HOURS` (so many hours at once), `local` (Spark in
one JVM), `cluster` (a master and two workers of one core, started here).
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import time
from pathlib import Path

import duckdb
import psutil
import sql_fleet

from pipelines import marts
from pipelines.engines import duck
from pipelines.engines.opening import engine_of
from pipelines.lake import MARTS_BY_HOUR
from pipelines.opening import warehouse_of
from pipelines.settings import load_settings
from pipelines.warehouse import Warehouse
from tests.spark.cluster import Cluster

DAY = sql_fleet.DAY_0
LOOK_S = 0.2
DEFAULT = ("duckdb:4GiB", "duckdb:1GiB", "duckdb:1GiB:24", "duckdb:1GiB:1", "local", "cluster")
SPARK = """engine = "spark"
[spark]
master = "{master}"
[spark.conf]
"spark.driver.memory" = "{driver}"
"spark.executor.memory" = "2g"
"spark.sql.shuffle.partitions" = "8"
"""


def make(folder: Path, n_requests: int) -> None:
    """Write the lake of one day."""
    n_per_file = n_requests // sql_fleet.FILES_PER_DAY
    maker = duckdb.connect(config={"memory_limit": "2GiB"})
    with Warehouse(folder / "warehouse", memory_limit="2GiB").writer() as writer:
        for part in range(sql_fleet.FILES_PER_DAY):
            text, sha256 = sql_fleet.staged_sql(n_per_file, 0, part)
            relative = Path("lake") / f"day={sql_fleet.FIRST_DAY}" / f"{sha256[:16]}.parquet"
            with writer.registered("staged", maker.sql(text).to_arrow_reader(122_880)):
                written = writer.write_parquet("ingest/fresh_of_day", relative, day_index=DAY)
            row = {"file": str(relative), "day_index": DAY, "last_day_index": DAY, "n_requests": n_per_file}
            writer.insert_rows("ops.lake_files", [row | written])
    size = sum(path.stat().st_size for path in (folder / "warehouse" / "lake").rglob("*.parquet"))
    print(f"{n_requests:,} requests, {size:,} bytes, {size / n_requests:.1f} a request")


def work(config: Path, at_once: int | None) -> None:
    """Make the marts of the day; what a child does."""
    if at_once is not None:
        duck.hours_at_once = lambda _n_requests, _memory_bytes: at_once
    settings = load_settings(config)
    hours = range(DAY * 24, DAY * 24 + 24)
    with warehouse_of(settings).writer() as writer, engine_of(settings, lambda line: print(line, flush=True)) as engine:
        writer.insert_rows("ops.dirty_hours", [{"mart": m, "hour_index": h} for m in MARTS_BY_HOUR for h in hours])
        for mart in MARTS_BY_HOUR:
            begun = time.monotonic()
            if mart == "busy_periods":
                marts.refresh_busy_periods(writer, DAY, engine)
            else:
                marts.refresh_hours(writer, mart, DAY, engine)
            print(f"  {mart} {time.monotonic() - begun:.1f} s", flush=True)
        print(f"  {engine.shown()}", flush=True)


def digest(config: Path) -> str:
    """Return a hash of all rows of the marts."""
    found = hashlib.sha256()
    with warehouse_of(load_settings(config)).writer():
        pass
    with duckdb.connect(str(config.parent / "warehouse" / "warehouse.duckdb"), read_only=True) as connection:
        for mart in MARTS_BY_HOUR:
            result = connection.execute(f"select count(*), bit_xor(hash(t)), sum(hash(t)) from mart.{mart} as t")
            found.update(repr(result.fetchall()).encode())
    return found.hexdigest()[:16]


def measure(engine: str, folder: Path) -> None:
    """Run one engine and print what it took."""
    kind, *more = engine.split(":")
    cluster = None
    if kind == "cluster":
        cluster = Cluster(folder / f"cluster-{time.monotonic_ns()}")
        cluster.start()
        text = SPARK.format(master=cluster.master, driver="1g")
    elif kind == "local":
        text = SPARK.format(master="local[2]", driver="4g")
    else:
        text = ""
    memory = more[0] if kind == "duckdb" else "1GiB"
    config = folder / "valleywatch.toml"
    config.write_text(f'{text}\n[warehouse]\nmemory_limit = "{memory}"\n')
    print(engine, flush=True)
    try:
        command = [sys.executable, __file__, "work", str(config), *more[1:]]
        begun = time.monotonic()
        child = subprocess.Popen(command)
        roots = [psutil.Process(child.pid), *(psutil.Process(one.pid) for one in (cluster.started if cluster else ()))]
        cpu_s, peak = watch(child, roots)
        wall_s = time.monotonic() - begun
    finally:
        if cluster is not None:
            cluster.stop()
    assert child.returncode == 0
    print(f"  wall {wall_s:.1f} s, CPU {cpu_s:.1f} s, peak {peak / 1e9:.2f} GB, marts {digest(config)}", flush=True)


def watch(child: subprocess.Popen[bytes], roots: list[psutil.Process]) -> tuple[float, float]:
    """Return the CPU seconds of all processes below the roots, as last seen, and the most memory they held at once."""
    cpu_s: dict[int, float] = {}
    peak = 0
    while child.poll() is None:
        held = 0
        for root in roots:
            try:
                found = [root, *root.children(recursive=True)]
            except psutil.NoSuchProcess:
                continue
            for process in found:
                try:
                    times, rss = process.cpu_times(), process.memory_info().rss
                except psutil.NoSuchProcess:
                    continue
                cpu_s[process.pid] = times.user + times.system
                held += rss
        peak = max(peak, held)
        time.sleep(LOOK_S)
    return sum(cpu_s.values()), peak


def main() -> None:
    """Do what the command line says."""
    verb, folder, *more = sys.argv[1:]
    if verb == "make":
        shutil.rmtree(folder, ignore_errors=True)
        Path(folder).mkdir(parents=True)
        make(Path(folder), int(more[0]))
    elif verb == "work":
        work(Path(folder), int(more[0]) if more else None)
    else:
        for engine in more or DEFAULT:
            measure(engine, Path(folder).resolve())


if __name__ == "__main__":
    main()
