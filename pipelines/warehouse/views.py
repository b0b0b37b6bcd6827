"""One published view as what copies it elsewhere needs it: columns with types and comments, rows a batch at a time.

Belongs here: reading a view by its name. Does not belong here: where it goes (`postgres`), what it is (`sql/views/`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from pipelines import queries
from pipelines.warehouse.engine import fetch_rows

BATCH_ROWS = 8192


@dataclass(frozen=True, slots=True)
class Column:
    """A column: its name, the engine's name of its type, its comment."""

    name: str
    data_type: str
    comment: str | None


@dataclass(frozen=True, slots=True)
class PublishedView:
    """A view; its batches are to be read once, before anything else is asked of the reader."""

    name: str
    comment: str | None
    columns: tuple[Column, ...]
    batches: Iterator[list[tuple[Any, ...]]]


def published_view(connection: duckdb.DuckDBPyConnection, name: str) -> PublishedView:
    """Return the view of `sql/views/<name>.sql`."""
    if f"views/{name}" not in queries.names("views"):
        raise ValueError(f"{name!r} is no view of sql/views")
    rows = fetch_rows(connection, "export/columns", {"view": name})
    columns = tuple(Column(row["column_name"], row["data_type"], row["column_comment"]) for row in rows)
    return PublishedView(name, rows[0]["view_comment"], columns, _batches(connection, name))


def _batches(connection: duckdb.DuckDBPyConnection, name: str) -> Iterator[list[tuple[Any, ...]]]:
    result = connection.execute(f"select * from main.{name}")
    while batch := result.fetchmany(BATCH_ROWS):
        yield batch
