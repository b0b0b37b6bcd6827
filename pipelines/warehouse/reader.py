"""Reading what is published: rows of a statement of `sql/`, or a person's own SQL, if it does nothing but read.

Belongs here: the reader and its answers. Does not belong here: what is refused (`refusals`), words for mistakes
(`complaints`), opening a snapshot (`folder`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import duckdb
import pyarrow as pa

from pipelines.warehouse.complaints import complaint, engine_error
from pipelines.warehouse.engine import fetch_rows, is_damage
from pipelines.warehouse.refusals import require_reading

BATCH_ROWS = 4096
"""Rows of an answer that are held at a time."""


@dataclass(frozen=True, slots=True)
class Answer:
    """Column names, and the rows while they are computed, a batch at a time; to be read once, before the next query."""

    columns: list[str]
    batches: Iterator[list[tuple[Any, ...]]]

    def rows(self) -> Iterator[tuple[Any, ...]]:
        """Return the rows one by one."""
        for batch in self.batches:
            yield from batch


class Reader:
    """A read-only connection to one published snapshot."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def answer(self, text: str, params: Mapping[str, Any] | None = None) -> Answer:
        """Run ad-hoc SQL with its named parameters; return what its last statement answers.

        Raises QueryError where a statement fails or does more than read; while the rows are read, too.
        """
        with self._explained(text):
            require_reading(self._connection, text)
            result = self._connection.execute(text, dict(params) if params else None)
            return Answer([column[0] for column in result.description], self._batches(result, text))

    def ask(self, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run ad-hoc SQL; return column names and all rows of its last statement. Raises as `answer` does."""
        answer = self.answer(text)
        return answer.columns, list(answer.rows())

    def arrow(self, text: str, params: Mapping[str, Any] | None = None) -> tuple[pa.Schema, Iterator[pa.RecordBatch]]:
        """Return what `answer` does with the engine's own types, as Arrow batches. Raises as `answer` does."""
        with self._explained(text):
            require_reading(self._connection, text)
            relation = self._connection.sql(text, params=dict(params) if params else None)
            batches = relation.to_arrow_reader(BATCH_ROWS)
        return batches.schema, self._arrow_batches(batches, text)

    def rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Run `sql/<name>.sql` and return its rows."""
        return fetch_rows(self._connection, name, params)

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

    def _batches(self, result: duckdb.DuckDBPyConnection, text: str) -> Iterator[list[tuple[Any, ...]]]:
        while True:
            with self._explained(text):
                batch = result.fetchmany(BATCH_ROWS)
            if not batch:
                return
            yield batch

    def _arrow_batches(self, batches: pa.RecordBatchReader, text: str) -> Iterator[pa.RecordBatch]:
        while True:
            with self._explained(text):
                try:
                    batch = batches.read_next_batch()
                except StopIteration:
                    return
                except (OSError, pa.ArrowException) as error:
                    raise engine_error(error) from None
            yield batch

    @contextmanager
    def _explained(self, text: str) -> Iterator[None]:
        try:
            yield
        except duckdb.Error as error:
            if is_damage(error):
                raise
            raise complaint(self._connection, error, text) from None
        except RuntimeError as error:
            # DuckDB's Python package looks for signals itself while it waits, and says so in these words alone.
            if str(error) != "Query interrupted":
                raise
            raise KeyboardInterrupt from None
