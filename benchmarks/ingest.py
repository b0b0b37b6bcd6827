"""Compare ingest with general readers on the same lines: CPU, wall and memory of a whole process, as ratios in one run.

    python benchmarks/ingest.py --lines 1000000

Every reader turns JSON lines with an OpenAI-style nested usage object into one zstd Parquet file (valleywatch: into its
lake, every value judged, every line accounted for). Machines are noisy: read the ratios, not the seconds.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from functools import partial
from pathlib import Path

from backports import zstd

CONFIG = """
[[sources]]
name = "bench"
format = "openai_usage"
path = "@FILE@"
"""
HASHED = """
[privacy]
hash = ["request_id", "session_id", "instance"]
salt_env = "BENCHMARK_SALT"
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
        f"status from read_json('@FILE@', format = 'newline_delimited', records = true, columns = {COLUMNS})) "
        "to 'out.parquet' (format parquet, compression zstd)\")"
    ),
    "Polars scan_ndjson": (
        "import polars as pl; pl.scan_ndjson('@FILE@').with_columns(pl.col('usage').struct.field('prompt_tokens'), "
        "pl.col('usage').struct.field('prompt_tokens_details').struct.field('cached_tokens')).drop('usage')"
        ".sink_parquet('out.parquet', compression='zstd')"
    ),
    "PyArrow JSON": (
        "import pyarrow as pa, pyarrow.json as pj, pyarrow.parquet as pq\n"
        "batches = pj.open_json(pa.input_stream('@FILE@', compression='detect'))\n"
        "writer = None\n"
        "for batch in batches:\n"
        "    table = pa.Table.from_batches([batch]).flatten().flatten()\n"
        "    writer = writer or pq.ParquetWriter('out.parquet', table.schema, compression='zstd')\n"
        "    writer.write_table(table)\n"
        "writer.close()"
    ),
    "pandas loop": (
        "import gzip, pandas as pd, pyarrow as pa, pyarrow.parquet as pq\n"
        "from backports import zstd\n"
        "opened = {'gz': gzip.open, 'zst': zstd.open}.get('@FILE@'.rpartition('.')[2], open)\n"
        "writer = None\n"
        "for chunk in pd.read_json(opened('@FILE@', 'rt'), lines=True, chunksize=100_000, convert_dates=False):\n"
        "    chunk = chunk.reset_index(drop=True)\n"
        "    usage = pd.json_normalize(chunk.pop('usage'))\n"
        "    table = pa.Table.from_pandas(chunk.join(usage), preserve_index=False)\n"
        "    table = table.replace_schema_metadata(None)\n"
        "    writer = writer or pq.ParquetWriter('out.parquet', table.schema, compression='zstd')\n"
        "    writer.write_table(table)\n"
        "writer.close()"
    ),
}


def write_lines(path: Path, n_lines: int) -> None:
    """Write seeded lines of about 300 bytes."""
    dice = random.Random(1)
    with path.open("w") as file:
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


def compare_hashing(path: Path, n_rounds: int) -> None:
    """Print what hashing ids costs: the same lines with and without, in turns, the least of each."""
    os.environ["BENCHMARK_SALT"] = "a salt of the benchmark alone"
    plain = CONFIG.replace("@FILE@", path.name)
    found: dict[str, list[tuple[float, float, float]]] = {"plain": [], "hashed": []}
    for _ in range(n_rounds):
        for name, config in (("plain", plain), ("hashed", plain + HASHED)):
            (path.parent / "valleywatch.toml").write_text(config)
            found[name].append(measure(READERS["valleywatch"], path.parent))
    least = {name: [min(column) for column in zip(*rounds, strict=True)] for name, rounds in found.items()}
    print("| ids | CPU s | wall s | peak MB |")
    print("|---|---|---|---|")
    for name, (cpu_s, wall_s, peak_mb) in least.items():
        print(f"| {name} | {cpu_s:.1f} | {wall_s:.1f} | {peak_mb:.0f} |")
    ratios = [hashed / base for hashed, base in zip(least["hashed"], least["plain"], strict=True)]
    print("| hashed / plain | " + " | ".join(f"{ratio:.2f}" for ratio in ratios) + " |")


def main() -> None:
    """Print a Markdown table for plain, gzip and zstd lines."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--lines", type=int, default=5_000_000)
    parser.add_argument("--only", choices=READERS, help="one reader, for a look at its memory on more lines")
    parser.add_argument("--hashing", type=int, metavar="ROUNDS", help="what hashing ids costs, and nothing else")
    options = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    if options.hashing:
        with tempfile.TemporaryDirectory(prefix="valleywatch-bench-") as scratch:
            write_lines(Path(scratch) / "lines.jsonl", options.lines)
            compare_hashing(Path(scratch) / "lines.jsonl", options.hashing)
        return
    print("| input | reader | CPU s | wall s | wall / CPU | peak MB | CPU against DuckDB |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="valleywatch-bench-") as scratch:
        folder = Path(scratch)
        plain = folder / "lines.jsonl"
        write_lines(plain, options.lines)
        for path in (plain, compressed(plain, "gz"), compressed(plain, "zst")):
            (folder / "valleywatch.toml").write_text(CONFIG.replace("@FILE@", path.name))
            readers = {name: code for name, code in READERS.items() if options.only in (None, name)}
            found = {name: measure(code.replace("@FILE@", path.name), folder) for name, code in readers.items()}
            base = found.get("DuckDB read_json", (math.nan,))[0]
            for name, (cpu_s, wall_s, peak_mb) in found.items():
                print(
                    f"| {path.name} | {name} | {cpu_s:.1f} | {wall_s:.1f} | {wall_s / cpu_s:.2f} | {peak_mb:.0f} "
                    f"| {cpu_s / base:.1f} |",
                    flush=True,
                )


def compressed(plain: Path, suffix: str) -> Path:
    """Write a compressed copy beside `plain` at the usual level; valleywatch is given one of the copies at a time."""
    target = plain.with_name(f"{plain.name}.{suffix}")
    opened = {"gz": partial(gzip.open, compresslevel=6), "zst": zstd.open}[suffix]
    with plain.open("rb") as source, opened(target, "wb") as file:
        shutil.copyfileobj(source, file, 1 << 20)
    return target


if __name__ == "__main__":
    main()
