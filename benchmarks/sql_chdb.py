"""ClickHouse for `sql.py`, in an environment of its own: statements as JSON in, times and answers as JSON out."""

from __future__ import annotations

import json
import resource
import sys
import time

from chdb import session


def cpu_s() -> float:
    """Return the CPU seconds of this process."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def main() -> None:
    """Ask every statement up to `n_times` times."""
    asked = json.load(sys.stdin)
    clickhouse = session.Session()
    for setting in asked["settings"]:
        clickhouse.query(f"set {setting}")
    found = {}
    for name, text in asked["statements"].items():
        costs: list[tuple[float, float]] = []
        while len(costs) < asked["n_times"] and sum(wall_s for wall_s, _ in costs) < asked["patience_s"]:
            before = time.monotonic(), cpu_s()
            answer = clickhouse.query(text, "JSONCompactEachRow")
            costs.append((time.monotonic() - before[0], cpu_s() - before[1]))
        rows = [json.loads(line) for line in str(answer).splitlines()]
        found[name] = {"costs": costs, "rows": rows, "bytes": answer.bytes_read()}
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
