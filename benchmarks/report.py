"""The report of a large fleet: 200 deployments, 30 days. Figures: README.md.

    PYTHONPATH=.:benchmarks python benchmarks/report.py make FOLDER [REQUESTS]
    PYTHONPATH=.:benchmarks python benchmarks/report.py write FOLDER

`make` writes the warehouse as `sql_fleet` does and publishes its snapshot; `write` runs `valleywatch report` on it in a
process of its own and prints what that took. Fails above the limits: 60 s, 1 GiB, 2 MB a deployment.
"""

from __future__ import annotations

import resource
import subprocess
import sys
import time
from pathlib import Path

import sql_fleet

from pipelines.warehouse import Warehouse

DEPLOYMENTS = 200
REQUESTS = 6_000_000
MOST_S, MOST_KIB, MOST_BYTES = 60, 1024 * 1024, 2_000_000


def make(folder: Path, n_requests: int) -> None:
    """Write the warehouse and publish it; busy periods of the newest day are what the report's points need."""
    sql_fleet.DEPLOYMENTS = DEPLOYMENTS
    warehouse = Warehouse(folder / "warehouse", memory_limit="3GiB")
    since = sql_fleet.lap("begin", (time.monotonic(), 0.0))
    sql_fleet.write_lake(warehouse, n_requests)
    since = sql_fleet.lap("lake", since)
    sql_fleet.fill_marts(warehouse, 1)
    with warehouse.writer() as writer:
        writer.publish()
    sql_fleet.lap("marts and snapshot", since)
    (folder / "valleywatch.toml").write_text('[warehouse]\npath = "warehouse"\n')


def write(folder: Path) -> int:
    """Write the report; print its time, memory and size; return 1 where one is above its limit."""
    command = [sys.executable, "-m", "pipelines", "report", "--config", str(folder / "valleywatch.toml")]
    before = time.monotonic()
    path = Path(subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.strip())
    took_s = time.monotonic() - before
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    pages = [page for page in path.parent.rglob("*.html") if path.name == "index.html" or page == path]
    sizes = sorted(page.stat().st_size for page in pages)
    print(
        f"{len(pages)} pages in {took_s:.1f} s, CPU {usage.ru_utime + usage.ru_stime:.1f} s, peak"
        f" {usage.ru_maxrss / 1024:.0f} MiB; largest page {sizes[-1]:,} bytes, all {sum(sizes):,} bytes"
    )
    largest = sizes[-1] if path.name == "index.html" else sizes[-1] / DEPLOYMENTS
    return int(took_s > MOST_S or usage.ru_maxrss > MOST_KIB or largest > MOST_BYTES)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["make", folder, *rest]:
            make(Path(folder), int(rest[0]) if rest else REQUESTS)
        case ["write", folder]:
            sys.exit(write(Path(folder)))
        case _:
            sys.exit(__doc__)
