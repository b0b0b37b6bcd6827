"""The one connection that writes: transactions, statements of `sql/`, Arrow in, Parquet out.

Belongs here: how a statement is run. Does not belong here: what it computes (`sql/`), publishing (`snapshots`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import polars as pl
import pyarrow as pa

from pipelines import queries
from pipelines.errors import UsageError, ValleywatchError
from pipelines.faults import reach
from pipelines.warehouse import engine, snapshots
from pipelines.warehouse.disk import file_sha256, make_folder, sync_rename
from pipelines.warehouse.engine import fetch_frame, fetch_rows, lake_sql, literal, require_layout

if TYPE_CHECKING:
    from pipelines.warehouse.folder import Warehouse

_FROM_LOGS = "run `valleywatch rebuild --from-logs`"


class Writer:
    """The one read-write connection. Statements come from `sql/`; table names from the schema's closed list."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, warehouse: Warehouse) -> None:
        self._connection = connection
        self._is_in_transaction = False
        self._sound: set[Path] = set()
        self._macros: set[str] = set()
        self.warehouse = warehouse
        self.folder = warehouse.folder

    @property
    def scratch(self) -> Path:
        """The folder for what a run needs for a while, on the disk of the warehouse."""
        return self.folder / "tmp"

    def prepare(self) -> None:
        """Refuse another version's layout untouched; create it where there is none, in the commit that numbers it."""
        if require_layout(self._connection, self.folder):
            return
        with self.transaction():
            for schema in ("core", "mart", "ops"):
                self._connection.execute(f"create schema if not exists {schema}")
            for name in queries.names("schema"):
                self._connection.execute(queries.load(name).text)
            self._connection.execute(queries.load("ops/first_schema_version").text, {"version": engine.SCHEMA_VERSION})

    def define_macros(self, folder: str) -> None:
        """Make the session's macros of `sql/<folder>/`; once: that takes as long as opening the warehouse."""
        if folder in self._macros:
            return
        for name in queries.names(folder):
            self._connection.execute(queries.load(name).text)
        self._macros.add(folder)

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """Commit what is done inside as a whole, or nothing of it; inside another transaction, be a part of it."""
        if self._is_in_transaction:
            yield
            return
        self._connection.execute("begin")
        self._is_in_transaction = True
        try:
            yield
        except BaseException:
            # A fatal error has already ended the transaction; its own message must reach the user.
            with suppress(duckdb.Error):
                self._connection.execute("rollback")
            raise
        finally:
            self._is_in_transaction = False
        self._connection.execute("commit")

    def rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Run `sql/<name>.sql` and return its rows."""
        return fetch_rows(self._connection, name, params)

    def frame(self, name: str, **params: Any) -> pl.DataFrame:
        """Run `sql/<name>.sql` and return a frame."""
        return fetch_frame(self._connection, name, params)

    def run(self, name: str, **params: Any) -> None:
        """Run a statement of `sql/` for its effect."""
        query = queries.load(name)
        self._connection.execute(query.text, query.bind(params) or None)

    def change(self, name: str, **params: Any) -> int:
        """Run a delete or update of `sql/`; return the number of rows it met."""
        query = queries.load(name)
        return int(self._connection.execute(query.text, query.bind(params) or None).fetchall()[0][0])

    def insert(self, table: str, name: str, **params: Any) -> int:
        """Append the rows of `sql/<name>.sql` to a table of the schema; return their number."""
        query = queries.load(name)
        counted = self._connection.execute(
            f"insert into {self._known(table)} by name {query.text}", query.bind(params) or None
        )
        return int(counted.fetchall()[0][0])

    def insert_rows(self, table: str, rows: Sequence[dict[str, Any]]) -> None:
        """Append `rows`, whose keys are columns of the table."""
        if not rows:
            return
        columns = sorted(rows[0])
        # A list for each column: a statement for each row takes a hundred times as long.
        values = ", ".join(f"unnest(${column})" for column in columns)
        self._connection.execute(
            f"insert into {self._known(table)} ({', '.join(columns)}) select {values}",
            {column: [row[column] for row in rows] for column in columns},
        )

    def insert_parquet(self, table: str, files: Sequence[Path]) -> None:
        """Append the rows of Parquet files in the warehouse's folder; their columns are the table's, by name."""
        if files:
            listed = ", ".join(literal(str(file)) for file in files)
            rows = f"select * from read_parquet([{listed}], hive_partitioning = false)"
            self._connection.execute(f"insert into {self._known(table)} by name {rows}")

    def insert_frame(self, table: str, frame: pl.DataFrame) -> None:
        """Append a frame whose columns are columns of the table."""
        if frame.height:
            with self.registered("incoming", frame.to_arrow()):
                self._connection.execute(f"insert into {self._known(table)} by name select * from incoming")

    @contextmanager
    def registered(self, name: str, table: pa.Table | pa.RecordBatchReader) -> Iterator[None]:
        """Let statements read an Arrow table as `name`."""
        self._connection.register(name, table)
        try:
            yield
        finally:
            # In a transaction that an error has ended this fails as well; the first error must reach the user.
            with suppress(duckdb.TransactionException):
                self._connection.unregister(name)

    @contextmanager
    def streamed(self, name: str, schema: pa.Schema, batches: Iterable[pa.RecordBatch]) -> Iterator[None]:
        """Let one statement read `batches` as `name` while they are being made; their errors come out as they are."""
        errors: list[Exception] = []

        def kept() -> Iterator[pa.RecordBatch]:
            try:
                yield from batches
            except Exception as error:
                errors.append(error)
                raise

        try:
            with self.registered(name, pa.RecordBatchReader.from_batches(schema, kept())):
                yield
        except duckdb.Error:
            if errors:
                raise errors[0] from None
            raise

    def create_view(self, view: str, name: str) -> None:
        """Make the temporary view `view` of `sql/<name>.sql`."""
        self._connection.execute(f"create or replace temp view {view} as {queries.load(name).text}")

    def declare(self, variable: str, value: Any) -> None:
        """Set a variable that statements of this session read with getvariable()."""
        self._connection.execute(f"set variable {variable} = $value", {"value": value})

    def open_lake(self, files: Iterable[str]) -> None:
        """Point the views `lake` and `requests` at exactly these files of the lake (relative paths)."""
        self._connection.execute(f"create or replace temp view lake as {lake_sql(self.folder, files)}")
        self.create_view("requests", "views/requests")

    def open_days(self, first_day: int, last_day: int) -> None:
        """Point the views at the files of these days, once each of them is known to be what was written."""
        files = self.rows("ops/lake_files_of_days", first_day=first_day, last_day=last_day)
        self.require_sound(files)
        self.open_lake(row["file"] for row in files)

    def require_sound(self, files: Iterable[dict[str, Any]]) -> None:
        """Raise ValleywatchError unless each `file` has its `sha256`; each is read through once in a session.

        The engine does not notice every flipped bit of a Parquet file: some are other numbers to it.
        """
        for row in files:
            path = self.folder / row["file"]
            if path in self._sound:
                continue
            if not path.exists():
                raise ValleywatchError(f"{path} is missing: put it back from a backup, or {_FROM_LOGS}")
            if file_sha256(path) != row["sha256"]:
                raise ValleywatchError(f"{path} is not what was written: put it back from a backup, or {_FROM_LOGS}")
            self._sound.add(path)

    def write_parquet(self, name: str, relative: Path, **params: Any) -> dict[str, Any]:
        """Write the rows of `sql/<name>.sql` into a new file of the lake, durably; return its size_bytes and sha256."""
        target = self.folder / relative
        make_folder(target.parent)
        aside = target.with_suffix(".tmp")
        query = queries.load(name)
        options = "format parquet, compression zstd, parquet_version v2"
        self._connection.execute(
            f"copy ({query.text}) to {literal(str(aside))} ({options})", query.bind(params) or None
        )
        # Never written again: a slip of a hand or of a tool should meet a closed door.
        aside.chmod(0o400)
        reach("parquet_aside")
        sync_rename(aside, target)
        return {"size_bytes": target.stat().st_size, "sha256": file_sha256(target)}

    def publish(self) -> Path:
        """Write a new snapshot aside, sync it, and swap the link readers follow; return the snapshot's path."""
        # The session's own view of the lake would stand before the snapshot's, on files that may be gone.
        self.open_lake(row["file"] for row in self.rows("ops/lake_files"))
        return snapshots.publish(self._connection, self.warehouse)

    def take_over(self, snapshot: Path) -> None:
        """Fill the tables of this new database from a snapshot; raise ValleywatchError where it is not all sound."""
        tables = self._connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() where database_name = current_database() "
            "and not temporary and table_name != 'schema_version'"
        ).fetchall()
        self._connection.execute(f"attach {literal(str(snapshot))} as source (read_only)")
        try:
            found = self._connection.execute("select max(version) from source.ops.schema_version").fetchall()[0][0]
            if found != engine.SCHEMA_VERSION:
                raise UsageError(f"it has layout {found}, this version reads layout {engine.SCHEMA_VERSION}")
            with self.transaction():
                for (table,) in tables:
                    self._connection.execute(f"insert into {table} by name select * from source.{table}")
        finally:
            self._connection.execute("detach source")

    def _known(self, table: str) -> str:
        schema, _, name = table.rpartition(".")
        declared = {query.split("_", 1)[1] for query in queries.names("schema")} | {"staged"}
        if name not in declared:
            raise ValueError(f"{table!r} is no table of sql/schema")
        return f"{schema}.{name}" if schema else name
