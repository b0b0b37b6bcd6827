"""Lakes made up to tell engines apart, written as the ingest writes them, and marts read back.

Belongs here: rows. Does not belong here: engines.
"""

from __future__ import annotations

import random
from hashlib import sha256
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from pipelines.lake import MARTS_BY_HOUR
from pipelines.times import HOURS_PER_DAY, US_PER_DAY, US_PER_HOUR, day_text
from pipelines.warehouse import Writer
from tests.place import Place

DAY = 20_785
"""2026-11-28, the second of two days."""
HOSTILE = (
    "pool'; drop table mart.hourly_hit_rate; --",
    'a "quoted" one',
    "two\nlines\r\n",
    "tab\tand back\\slash",
    "Pool",
    "pool",
    "pool ",
    "",
    "é",
    "e\u0301",
    "‮right to left",
    "\U0001f600",
    "\uffee",  # before the one above it by code point, after it by UTF-16
    ":from_us",
    "${spark.app.name}",
    "{requests}",
    "%s %d",
    "*",
    "NULL",
)
HUGE = (1 << 53) + 1
"""An integer that no double holds."""
LARGEST = 9_000_000_000
"""Many more in a request that reports its hits would leave 64 bits where hit rates are in parts per billion."""
CACHED_OF_1000 = (0, 1, 9, 10, 11, 500, 980, 989, 990, 991, 998, 999, 1000)
"""At and beside the edges of bins."""
STRINGS = (
    "request_id", "deployment", "instance", "model", "session_id", "ttft_basis", "cached_basis", "status", "outcome",
    "source_name", "source_file", "source_sha256",
)  # fmt: skip
INTEGERS = (
    "arrived_us", "input_tokens", "cached_tokens", "cached_device_tokens", "cached_host_tokens",
    "cached_storage_tokens", "cache_write_tokens", "output_tokens", "queue_us", "prefill_us", "ttft_us", "e2e_us",
    "source_line",
)  # fmt: skip
SCHEMA = pa.schema([(name, pa.string()) for name in STRINGS] + [(name, pa.int64()) for name in INTEGERS])


def requests(n: int, seed: int = 1) -> list[dict[str, Any]]:
    """Return `n` records of two days in log order, about one in ten another record of a request before it."""
    dice = random.Random(seed)
    made: list[dict[str, Any]] = []
    for line in range(n):
        if made and dice.random() < 0.1:
            made.append(_again(dice, dice.choice(made[-500:]), line))
        else:
            made.append(_record(dice, line))
    return made


def _record(dice: random.Random, line: int) -> dict[str, Any]:
    number = dice.randrange(150)
    hour = (DAY - 1) * HOURS_PER_DAY + min(dice.randrange(2 * HOURS_PER_DAY), dice.randrange(2 * HOURS_PER_DAY))
    # Whole seconds, mostly: requests that arrive and answer in the same microsecond are told apart by their ids.
    arrived_us = hour * US_PER_HOUR + dice.randrange(3600) * 1_000_000 + dice.choice((0, 0, dice.randrange(1_000_000)))
    input_tokens, cached_tokens = _tokens(dice)
    ttft_us = dice.choice((None, 0, 1_000_000, dice.randrange(5_000_000), dice.randrange(600_000_000)))
    return {
        "request_id": f"r-{line}",
        "arrived_us": arrived_us,
        "deployment": HOSTILE[number] if number < len(HOSTILE) else f"pool-{number}",
        "instance": dice.choice((None, "a", "b", "c'; --")),
        "model": dice.choice((None, "m\x00odel", "model")),
        "input_tokens": input_tokens,
        "cached_tokens": cached_tokens,
        "output_tokens": dice.choice((None, 0, dice.randrange(3000), HUGE)),
        "prefill_us": None if ttft_us is None or dice.random() < 0.5 else dice.randrange(ttft_us + 1),
        "ttft_us": ttft_us,
        "ttft_basis": None if ttft_us is None else dice.choice(("engine", "engine", "gateway", "client")),
        "cached_basis": dice.choice(("measured", "measured", "declared", "predicted", "simulated")),
        "status": dice.choice((None, "200", "500")),
        "outcome": dice.choice(("ok",) * 8 + ("failed", "aborted", "warm_up")),
        "source_line": line,
    }


def _tokens(dice: random.Random) -> tuple[int, int | None]:
    kind = dice.random()
    if kind < 0.3:
        return 1000, dice.choice(CACHED_OF_1000)
    if kind < 0.4:
        return 0, dice.choice((None, 0))
    if kind < 0.45:
        return LARGEST - dice.randrange(3), LARGEST - 3 - dice.randrange(3)
    if kind < 0.5:
        return HUGE + dice.randrange(3), None
    input_tokens = dice.randrange(1, 200_000)
    return input_tokens, dice.choice((None, input_tokens, dice.randrange(input_tokens + 1)))


def _again(dice: random.Random, before: dict[str, Any], line: int) -> dict[str, Any]:
    """Return a record of the same request on the same day: a copy, a tie but for its place, a better or a later one."""
    into_day = before["arrived_us"] % US_PER_DAY
    changes = dice.choice((
        {},
        {"source_file": "copy"},
        {"output_tokens": dice.randrange(5000)},
        {"outcome": dice.choice(("ok", "failed", "aborted"))},
        {"arrived_us": before["arrived_us"] - into_day + dice.randrange(US_PER_DAY)},
        {"input_tokens": 1000, "cached_tokens": dice.choice(CACHED_OF_1000)},
    ))  # fmt: skip
    return before | {"source_line": line} | changes


def write_lake(writer: Writer, records: list[dict[str, Any]], name: str, *, files: int = 3) -> None:
    """Put the records into files of the lake, those of a day dealt over several."""
    days: dict[int, list[dict[str, Any]]] = {}
    for record in records:
        days.setdefault(record["arrived_us"] // US_PER_DAY, []).append(record)
    for day, rows in days.items():
        for number in range(files):
            relative = Path("lake") / f"day={day_text(day)}" / f"{name}-{number}.parquet"
            path = writer.folder / relative
            path.parent.mkdir(parents=True, exist_ok=True)
            source = {"source_name": "made", "source_sha256": name, "source_file": f"{name}-{number}"}
            dealt = [{**dict.fromkeys(SCHEMA.names), **source, **row} for row in rows[number::files]]
            pq.write_table(pa.Table.from_pylist(dealt, SCHEMA), path, compression="zstd")
            _list(writer, relative, day, len(dealt))


def copy_unique(source: Writer, target: Writer, name: str) -> None:
    """Write of the source's lake what `mart/unique_requests` keeps into the target's, as DuckDB answers it."""
    source.open_lake(row["file"] for row in source.rows("ops/lake_files"))
    unique = source.frame("mart/unique_requests").to_arrow()
    write_lake(target, unique.to_pylist(), name)
    mark(target, hours_of(unique.to_pylist()))


def marts_of(place: Place) -> dict[str, list[dict[str, Any]]]:
    """Return all rows of the hourly marts, in an order of their own."""
    with place.warehouse.writer() as writer:
        writer.publish()
    return {mart: place.rows(f"select * from mart.{mart} order by all") for mart in MARTS_BY_HOUR}


def _list(writer: Writer, relative: Path, day: int, n_requests: int) -> None:
    path = writer.folder / relative
    writer.insert_rows("ops.lake_files", [{
        "file": str(relative),
        "day_index": day,
        "last_day_index": day,
        "n_requests": n_requests,
        "size_bytes": path.stat().st_size,
        "sha256": sha256(path.read_bytes()).hexdigest(),
    }])  # fmt: skip


def hours_of(records: list[dict[str, Any]]) -> set[int]:
    """Return the hours in which records arrived."""
    return {record["arrived_us"] // US_PER_HOUR for record in records}


def mark(writer: Writer, hours: set[int]) -> None:
    """Mark hours, and what follows from them, as no longer following from the lake."""
    marks = [{"mart": mart, "hour_index": hour} for mart in MARTS_BY_HOUR for hour in hours]
    days = {hour // HOURS_PER_DAY for hour in hours}
    marks += [{"mart": "busy_periods", "hour_index": (day + 1) * HOURS_PER_DAY} for day in days]
    writer.insert_rows("ops.dirty_hours", marks)
