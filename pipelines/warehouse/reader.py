"""Reading what is published: rows of a statement of `sql/`, or a person's own SQL, if it does nothing but read.

Belongs here: the reader and what it refuses. Does not belong here: opening a snapshot (`folder`).
"""

from __future__ import annotations

import re
from typing import Any

import duckdb
import polars as pl

from pipelines.errors import QueryError
from pipelines.warehouse.engine import fetch_frame, fetch_rows, is_damage
from pipelines.warehouse.views import PublishedView, published_view

_EXPLAIN = re.compile(r"^(\s|--[^\n]*\n|/\*.*?\*/)*explain(\s+analyze)?(\s*\([^)]*\))?", re.IGNORECASE | re.DOTALL)
_REFUSED = {"MULTI": "PIVOT without a list of values after `in`"}
"""What DuckDB's own name of a statement does not tell its writer."""


class Reader:
    """A read-only connection to one published snapshot."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def ask(self, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run ad-hoc SQL; return column names and rows of its last statement.

        Raises QueryError with the engine's own words, or where a statement does more than read.
        """
        try:
            require_reading(self._connection, text)
            result = self._connection.execute(text)
            return [column[0] for column in result.description], result.fetchall()
        except duckdb.Error as error:
            if is_damage(error):
                raise
            raise QueryError(f"the query failed: {error}") from None

    def rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Run `sql/<name>.sql` and return its rows."""
        return fetch_rows(self._connection, name, params)

    def frame(self, name: str, **params: Any) -> pl.DataFrame:
        """Run `sql/<name>.sql` and return a frame."""
        return fetch_frame(self._connection, name, params)

    def view(self, name: str) -> PublishedView:
        """Return a published view, its rows to come in batches."""
        return published_view(self._connection, name)

    def read_through(self) -> int:
        """Read every value of every table once; return the number of rows. Damage raises the engine's error."""
        tables = self._connection.execute(
            "select format('{}.{}', schema_name, table_name) from duckdb_tables() "
            "where database_name = current_database()"
        ).fetchall()
        counts = [
            self._connection.execute(f"select count(hash(row)) from {table} as row").fetchall() for (table,) in tables
        ]
        return sum(int(found[0][0]) for found in counts)


def require_reading(connection: duckdb.DuckDBPyConnection, text: str) -> None:
    """Raise QueryError unless `text` holds statements and all of them only read.

    The lake must be open to a reader's connection, and DuckDB 2.0.1 knows no folder that is open for reading alone:
    COPY and EXPORT could overwrite the lake. EXPLAIN ANALYZE runs what it explains.
    """
    statements = connection.extract_statements(text)
    if not statements:
        raise QueryError("the query is empty: give one SQL statement, for example `from valley_status`")
    for statement in statements:
        explained = _EXPLAIN.sub("", statement.query)
        if statement.type == duckdb.StatementType.EXPLAIN and explained != statement.query:
            require_reading(connection, explained)
        elif statement.type != duckdb.StatementType.SELECT:
            name = statement.type.name
            raise QueryError(
                f"{_REFUSED.get(name, name)} is refused: only statements that read are answered (select, with, from, "
                "describe, show, summarize, explain); to keep a result, redirect the output of --csv or --json"
            )
