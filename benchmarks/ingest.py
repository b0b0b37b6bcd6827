"""Compare ingest with general readers on the same lines: CPU, wall and memory of a whole process, as ratios in one run.

    python benchmarks/ingest.py --lines 1000000

Every reader turns JSON lines with an OpenAI-style nested usage object into one zstd Parquet file (valleywatch: into its
lake, every value judged, every line accounted for). Machines are noisy: read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CONFIG = """
[[sources]]
name = "bench"
format = "openai_usage"
path = "lines.*"
"""
COLUMNS = (
    "{timestamp: 'VARCHAR', request_id: 'VARCHAR', deployment: 'VARCHAR', instance: 'VARCHAR', model: 'VARCHAR', "
    "usage: 'STRUCT(prompt_tokens BIGINT, completion_tokens BIGINT, "
    "prompt_tokens_details STRUCT(cached_tokens BIGINT))', ttft_ms: 'DOUBLE', e2e_ms: 'DOUBLE', status: 'BIGINT'}"
)
READERS = {
    "valleywatch": "from pipelines.cli import main; raise SystemExit(main(['ingest']))",
    "DuckDB read_json": (
        'import duckdb; duckdb.sql("copy (select timestamp, request_id, deployment, instance, model, '
        "usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens, usage.completion_tokens, ttft_ms, e2e_ms, "
        f"status from read_json('{{file}}', format = 'newline_delimited', records = true, columns = {COLUMNS})) "
        "to 'out.parquet' (format parquet, compression zstd)\")"
    ),
    "Polars scan_ndjson": (
        "import polars as pl; pl.scan_ndjson('{file}').with_columns(pl.col('usage').struct.field('prompt_tokens'), "
        "pl.col('usage').struct.field('prompt_tokens_details').struct.field('cached_tokens')).drop('usage')"
        ".sink_parquet('out.parquet', compression='zstd')"
    ),
    "PyArrow JSON": (
        "import pyarrow.json as pj, pyarrow.parquet as pq; "
        "pq.write_table(pj.read_json('{file}').flatten().flatten(), 'out.parquet', compression='zstd')"
    ),
    "json loop": (
        "import json, gzip, pyarrow as pa, pyarrow.parquet as pq\n"
        "opened = gzip.open if '{file}'.endswith('.gz') else open\n"
        "rows = []\n"
        "for line in opened('{file}', 'rt'):\n"
        "    row = json.loads(line); usage = row.pop('usage')\n"
        "    rows.append(row | {{'prompt_tokens': usage['prompt_tokens'], "
        "'cached_tokens': usage['prompt_tokens_details']['cached_tokens']}})\n"
        "pq.write_table(pa.Table.from_pylist(rows), 'out.parquet', compression='zstd')"
    ),
}


def write_lines(path: Path, n_lines: int) -> None:
    """Write seeded lines of about 300 bytes."""
    dice = random.Random(1)
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(path, "wt") as file:
        for number in range(n_lines):
            prompt = dice.randint(500, 60_000)
            second = number * 86_400 // n_lines
            clock = f"{second // 3600:02}:{second // 60 % 60:02}:{second % 60:02}.{dice.randint(0, 999_999):06}"
            row = {
                "timestamp": f"2026-11-28T{clock}Z",
                "request_id": f"req-{number:012}",
                "deployment": f"pool-{number % 7}",
                "instance": f"pool-{number % 7}-{number % 3}",
                "model": "example",
                "usage": {
                    "prompt_tokens": prompt,
                    "completion_tokens": dice.randint(1, 2000),
                    "prompt_tokens_details": {"cached_tokens": dice.randint(0, prompt) // 16 * 16},
                },
                "ttft_ms": round(dice.random() * 3000, 3),
                "e2e_ms": round(3000 + dice.random() * 30_000, 3),
                "status": 200,
            }
            file.write(json.dumps(row) + "\n")


def measure(code: str, folder: Path) -> tuple[float, float, float]:
    """Return CPU seconds, wall seconds and peak MB of a Python process that runs `code` in `folder`."""
    shutil.rmtree(folder / "warehouse", ignore_errors=True)
    begun = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-P", "-c", code], cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE
    )
    _, status, used = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - begun
    if status != 0:
        raise SystemExit(f"failed: {process.stderr.read().decode()[-2000:] if process.stderr else ''}")
    return used.ru_utime + used.ru_stime, wall_s, used.ru_maxrss / 1000


def main() -> None:
    """Print a Markdown table for plain and gzip lines."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=1_000_000)
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    print("| input | reader | CPU s | wall s | peak MB | CPU against DuckDB |\n|---|---|---|---|---|---|")
    for name in ("lines.jsonl", "lines.jsonl.gz"):
        with tempfile.TemporaryDirectory(prefix="valleywatch-bench-") as scratch:
            folder = Path(scratch)
            (folder / "valleywatch.toml").write_text(CONFIG)
            write_lines(folder / name, options.lines)
            found = {reader: measure(code.format(file=name), folder) for reader, code in READERS.items()}
            base = found["DuckDB read_json"][0]
            for reader, (cpu_s, wall_s, peak_mb) in found.items():
                print(f"| {name} | {reader} | {cpu_s:.1f} | {wall_s:.1f} | {peak_mb:.0f} | {cpu_s / base:.1f} |")


if __name__ == "__main__":
    main()
