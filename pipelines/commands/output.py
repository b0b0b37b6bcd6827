"""How commands speak: results on stdout, everything else on stderr.

Belongs here: tables, JSON, CSV, progress lines. Does not belong here: what is said.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Iterable, Sequence
from datetime import date, datetime
from decimal import Decimal
from typing import Any

from rich.cells import cell_len

from pipelines.display import shown

MAX_CELL = 200
"""Longest text shown in a table; the machine-readable forms are never cut."""


def tell(line: str) -> None:
    """Print a line of progress."""
    print(line, file=sys.stderr, flush=True)


def tell_scope(revenue_scope: str) -> None:
    """Say where figures of prompts alone stand beside a status that counts more."""
    if revenue_scope == "full":
        tell("note: these figures are of prompt tokens alone; `status` counts output, cache writes and decoding too")


def write_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Print a table as wide as a terminal shows it; numbers to the right; control characters shown, not obeyed."""
    cells = [[cell_text(value) for value in row] for row in rows]
    names = [cell_text(name) for name in columns]
    widths = [max([cell_len(name), *(cell_len(row[index]) for row in cells)]) for index, name in enumerate(names)]
    to_right = [any(is_number(row[index]) for row in rows) for index in range(len(columns))]

    def line(values: Sequence[str]) -> str:
        parts = [
            room + value if right else value + room
            for value, width, right in zip(values, widths, to_right, strict=True)
            for room in [" " * (width - cell_len(value))]
        ]
        return "  ".join(parts).rstrip()

    print(line(names))
    print("  ".join("-" * width for width in widths))
    for row in cells:
        print(line(row))


def write_json(value: Any) -> None:
    """Print JSON: dates as ISO 8601, exact integers as integers, numbers that are none as null."""
    print(json.dumps(plain(value), ensure_ascii=False, allow_nan=False))


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print CSV; text that a spreadsheet would run as a formula is prefixed with an apostrophe."""
    writer = csv.writer(sys.stdout, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([inert(value) for value in row])


def plain(value: Any) -> Any:
    """Return `value` in terms of JSON."""
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [plain(item) for item in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, Decimal):
        return int(value) if value == value.to_integral_value() else float(value)
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return str(value)


def inert(value: Any) -> Any:
    """Return a cell of CSV that no spreadsheet takes for a formula; lists and structs as JSON."""
    value = plain(value)
    if isinstance(value, list | dict):
        return json.dumps(value, ensure_ascii=False, allow_nan=False)
    if isinstance(value, str) and value.lstrip()[:1] in ("=", "+", "-", "@"):
        return f"'{value}"
    return value


def is_number(value: Any) -> bool:
    """Say whether it stands to the right in a table."""
    return isinstance(value, int | float | Decimal) and not isinstance(value, bool)


def cell_text(value: Any) -> str:
    """Return a value as a table shows it; nothing where there is none."""
    if value is None or value == "":
        return ""
    if isinstance(value, float):
        return f"{value:.6g}"
    return shown(str(value), MAX_CELL)
