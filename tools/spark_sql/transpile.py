"""The statements of `sql/` that Spark runs as well, in Spark's words, as `sql/spark/` has them.

Belongs here: which statements they are, how one is translated, its header, and a hand-written one that stands for it
(`sql/spark/overrides/`). Does not belong here: what a statement may contain (`subset`, `lint`).
"""

from __future__ import annotations

from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import sqlglot
from sqlglot.errors import ErrorLevel

STATEMENTS = ("mart/unique_requests", "mart/hourly_hit_rate", "mart/hit_rate_histogram", "mart/busy_periods")
"""What both engines run: from the lake's rows to the marts. Everything behind the marts is small, and DuckDB's."""

OVERRIDES = "spark/overrides"
"""Below `sql/`, where a statement written by hand for Spark wins over the translated one of the same name."""


def translated(sql: Path, name: str) -> str:
    """Return the file `sql/spark/<name>.sql`, made from `sql/<name>.sql` or from what overrides it.

    Bound parameters `$name` become Spark's named ones, `:name`. Raises ValueError where the statement does not parse,
    is not one statement, or has no translation.
    """
    override = sql / OVERRIDES / f"{name}.sql"
    if override.is_file():
        header, statement = parted(override.read_text(encoding="utf-8"))
        origin = f"from sql/{OVERRIDES}/{name}.sql by `make spark-sql`; edit that, not this"
    else:
        header, statement = parted((sql / f"{name}.sql").read_text(encoding="utf-8"))
        statement = _in_sparks_words(name, statement)
        origin = f"from sql/{name}.sql by sqlglot {version('sqlglot')} (`make spark-sql`); edit that, not this"
    kept = [line for line in _entries(header) if not line.startswith(("-- name:", "-- why:"))]
    return "\n".join([f"-- name: spark/{name}", *kept, f"-- generated: {origin}", statement.strip()]) + "\n"


def write(sql: Path, names: tuple[str, ...] = STATEMENTS) -> list[Path]:
    """Write the translated statements of `sql` that are not there or differ; return their paths."""
    written = []
    for name in names:
        path, text = sql / "spark" / f"{name}.sql", translated(sql, name)
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
            written.append(path)
    return written


def parted(text: str) -> tuple[list[str], str]:
    """Return the lines of the header above a statement, and the statement."""
    lines = text.splitlines()
    n_header = next((n for n, line in enumerate(lines) if not line.startswith("--")), len(lines))
    return lines[:n_header], "\n".join(lines[n_header:])


def _entries(header: list[str]) -> Iterator[str]:
    """Yield each of a header's entries, the lines that continue it with it."""
    entry: list[str] = []
    for line in header:
        if not line.startswith("--  ") and entry:
            yield "\n".join(entry)
            entry = []
        entry.append(line)
    if entry:
        yield "\n".join(entry)


def _in_sparks_words(name: str, statement: str) -> str:
    try:
        found = sqlglot.transpile(
            statement, read="duckdb", write="spark", pretty=True, comments=False, unsupported_level=ErrorLevel.RAISE
        )
    except sqlglot.errors.SqlglotError as error:
        raise ValueError(
            f"sql/{name}.sql cannot be translated for Spark: {error}. Write it in the subset of both engines "
            f"(docs/spark-sql.md), or by hand as sql/{OVERRIDES}/{name}.sql."
        ) from error
    if len(found) != 1:
        raise ValueError(f"sql/{name}.sql holds {len(found)} statements. A file is one statement: split it.")
    return found[0]
