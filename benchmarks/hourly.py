"""What a run for one more hour of a busy day costs, as the day grows. Figures and meaning: README.md beside this.

    PYTHONPATH=. python benchmarks/hourly.py [REQUESTS_PER_HOUR] [daily]

Each hour is one `valleywatch run` of its day in a process of its own, through the Dagster job, its clock at ten past.
With `daily` the same ticks run without the hourly cadence, so that every one of them fits the curves again.
"""

from __future__ import annotations

import json
import random
import resource
import subprocess
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

MIDNIGHT = datetime(2026, 11, 28, tzinfo=UTC)
DEPLOYMENTS, INSTANCES = 4, 4
CONFIG = """
[[sources]]
name = "gateway"
format = "canonical"
path = "logs/*.jsonl"
[[prices]]
deployment = "*"
effective_from = 2026-01-01
input_per_mtok = 1.0
cached_per_mtok = 0.1
[schedule]
cadence = "{cadence}"
"""
RUN = """
import sys
from datetime import date, datetime
from pathlib import Path
from pipelines.daily_job import run
run(Path(sys.argv[1]), days=[date.fromisoformat(sys.argv[2])], tell=lambda line: None,
    fixed_now=datetime.fromisoformat(sys.argv[3]))
"""


def hour_of_logs(path: Path, hour: int, n_requests: int, dice: random.Random) -> None:
    """Write an hour of queues with one service-time law."""
    free_s: dict[tuple[int, int], float] = {}
    with path.open("w") as log:
        for number in range(n_requests):
            at_s = (number + 0.5) * 3600 / n_requests
            key = (number % DEPLOYMENTS, dice.randrange(INSTANCES))
            length = int(dice.uniform(500, 4000))
            cached = int(length * dice.uniform(0, 0.95))
            miss = length - cached
            free_s[key] = (
                max(at_s, free_s.get(key, 0.0)) + 0.02 + 4e-5 * miss + 4e-9 * miss * (cached + miss / 2) + 4e-6 * cached
            )
            log.write(json.dumps({
                "timestamp": (MIDNIGHT + timedelta(hours=hour, seconds=at_s)).isoformat(),
                "request_id": f"{hour}-{number}", "deployment": f"pool-{key[0]}", "instance": f"i-{key[1]}",
                "input_tokens": length, "cached_tokens": cached, "output_tokens": 20,
                "ttft_ms": round((free_s[key] - at_s) * 1000, 3), "status": 200,
            }) + "\n")  # fmt: skip


def main(n_requests: int, cadence: str) -> None:
    """Print a line an hour."""
    dice = random.Random(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "logs").mkdir()
        (folder / "valleywatch.toml").write_text(CONFIG.format(cadence=cadence))
        cpu = []
        for hour in range(24):
            hour_of_logs(folder / "logs" / f"{hour:02}.jsonl", hour, n_requests, dice)
            now = MIDNIGHT + timedelta(hours=hour + 1, minutes=10)
            day = (now - timedelta(hours=1)).date()
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            command = [sys.executable, "-c", RUN, str(folder / "valleywatch.toml"), str(day), now.isoformat()]
            subprocess.run(command, check=True)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            print(f"hour {hour + 1:2} of {cadence}, {n_requests:,} requests: {cpu[-1]:.1f} CPU s", flush=True)
        print(
            f"23rd against 2nd: {cpu[22] / cpu[1]:.2f}; 24th, which ends the day, against 2nd: {cpu[23] / cpu[1]:.2f}"
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 20_000, "daily" if "daily" in sys.argv else "hourly")
