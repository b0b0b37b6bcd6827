"""The warehouse folder: one DuckDB file for marts and manifest, a lake of immutable Parquet files, published snapshots.

    warehouse.duckdb            the writer's own; nobody else opens it
    lake/day=YYYY-MM-DD/        requests, by UTC day of arrival
    snapshots/, valleywatch.duckdb -> snapshots/…   what readers open

Belongs here: connections, transactions, the writer's lock, the lake's view, publishing. The only importer of duckdb.
Does not belong here: what a statement computes (`sql/`) or when it runs (`assets/`).
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import itertools
import os
import re
import shutil
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import duckdb
import polars as pl
import pyarrow as pa

from pipelines import queries
from pipelines.errors import BusyError, DiskFullError, QueryError, UsageError, ValleywatchError
from pipelines.faults import reach

SCHEMA_VERSION = 3
KEPT_SNAPSHOTS = 3
"""Published snapshots kept, the newest included: a reader that opened an older one can finish its work."""

RESERVE_BYTES = 32 << 20
"""Free space without which nothing is begun: twice the write-ahead log that the engine lets grow to 16 MiB."""
REPORT_SCRATCH_S = 3600.0
_HALF_MADE = ("lake/*/*.tmp", "snapshots/*.tmp", "snapshots/*.tmp.wal", "valleywatch.link", "tmp/*")

_CONNECT = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "preserve_insertion_order": False,
}


_EXPLAIN = re.compile(r"^(\s|--[^\n]*\n|/\*.*?\*/)*explain(\s+analyze)?(\s*\([^)]*\))?", re.IGNORECASE | re.DOTALL)
_REFUSED = {"MULTI": "PIVOT without a list of values after `in`"}
"""What DuckDB's own name of a statement does not tell its writer."""


_FROM_LOGS = "run `valleywatch rebuild --from-logs`"
_DAMAGE_WORDS = r"(?i)corrupt|checksum|not a valid DuckDB|failed to load metadata|replay|deseriali[sz]"
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT)
_NO_SPACE_WORDS = r"No space left on device|Disk quota exceeded|max_temp_directory_size"


class Warehouse:
    """The folder; opens the one writer and any number of readers."""

    def __init__(self, folder: Path, *, memory_limit: str = "640MiB") -> None:
        self.folder = folder
        self.memory_limit = memory_limit

    @property
    def snapshot(self) -> Path:
        """The published file, a symbolic link that is swapped whole."""
        return self.folder / "valleywatch.duckdb"

    def snapshots(self) -> list[Path]:
        """The kept snapshots, newest first."""
        return sorted((self.folder / "snapshots").glob("valleywatch-*.duckdb"), reverse=True)

    @contextmanager
    def writer(self, *, wait_s: float = 0.0) -> Iterator[Writer]:
        """Open the warehouse for writing; raise BusyError when another process still has it open after `wait_s`."""
        with self.explained(), self.locked(wait_s=wait_s), self.opened("warehouse.duckdb") as writer:
            yield writer

    @contextmanager
    def locked(self, *, wait_s: float = 0.0) -> Iterator[None]:
        """Be the only one who writes in the folder, which is made where it is missing."""
        self._make_folders()
        self.require_space()
        with _lock(self.folder / "writer.lock", wait_s):
            self._sweep()
            yield

    @contextmanager
    def opened(self, name: str) -> Iterator[Writer]:
        """Open a database of the folder for writing, made where it is missing; its owner holds the lock."""
        connection = _connect(self.folder / name, self.folder, self.memory_limit)
        try:
            (self.folder / name).chmod(0o600)
            writer = Writer(connection, self)
            writer.prepare()
            yield writer
        finally:
            connection.close()

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say of an error of the engine, or of a full disk, what a person can do about it."""
        try:
            yield
        except (duckdb.Error, OSError) as error:
            if full := _disk_full(self.folder, error):
                raise full from error
            if isinstance(error, OSError):
                raise ValleywatchError(
                    f"{error.filename or self.folder}: {error.strerror}; the warehouse needs a folder of its own that "
                    "this user may write: check owner, mode and mount, and run again; what was committed before stays"
                ) from error
            if _is_damage(error):
                raise ValleywatchError(_unreadable(self.folder / "warehouse.duckdb", error)) from error
            raise ValleywatchError(
                f"the engine refused a step on {self.folder}: {error}; what was committed before stays"
            ) from error

    def _make_folders(self) -> None:
        for folder in (self.folder, self.folder / "lake", self.folder / "snapshots", self.folder / "tmp"):
            try:
                _make_folder(folder)
            except OSError as error:
                raise _disk_full(self.folder, error) or UsageError(
                    f"{folder} cannot be made: {error.strerror}; set `path` under [warehouse] to a folder of its own"
                ) from None

    def require_space(self, n_bytes: int = 0) -> None:
        """Raise DiskFullError unless `n_bytes` and the reserve fit on the disk."""
        free = shutil.disk_usage(self.folder).free
        if free < n_bytes + RESERVE_BYTES:
            raise DiskFullError(
                f"{self.folder} has {free:,} bytes free and needs {n_bytes + RESERVE_BYTES:,} to begin: "
                "free some and run again; nothing was touched"
            )

    def _sweep(self) -> None:
        """Remove what a killed writer left half made; the lock is held, so nobody is making it now."""
        left = itertools.chain.from_iterable(self.folder.glob(pattern) for pattern in _HALF_MADE)
        for path in left:
            path.unlink(missing_ok=True)
        # The report is written without the lock: its scratch file is swept once no process can still be at it.
        for path in self.folder.glob(".report-*.tmp"):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > REPORT_SCRATCH_S:
                    path.unlink()

    @contextmanager
    def reader(self) -> Iterator[Reader]:
        """Open the published snapshot, read-only and locked down."""
        if not self.snapshot.exists():
            raise UsageError(f"nothing is published in {self.folder} yet: run `valleywatch run` first")
        connection = _connect(None, self.folder, self.memory_limit, attach=self.snapshot.resolve())
        try:
            _require_layout(connection, self.folder)
            yield Reader(connection)
        except duckdb.Error as error:
            raise ValleywatchError(_unreadable(self.snapshot.resolve(), error)) from error
        finally:
            connection.close()


class Reader:
    """A read-only connection to one published snapshot."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection

    def ask(self, text: str) -> tuple[list[str], list[tuple[Any, ...]]]:
        """Run ad-hoc SQL; return column names and rows of its last statement.

        Raises QueryError with the engine's own words, or where a statement does more than read.
        """
        try:
            _require_reading(self._connection, text)
            result = self._connection.execute(text)
            return [column[0] for column in result.description], result.fetchall()
        except duckdb.Error as error:
            if _is_damage(error):
                raise
            raise QueryError(f"the query failed: {error}") from None

    def rows(self, name: str, **params: Any) -> list[dict[str, Any]]:
        """Run `sql/<name>.sql` and return its rows."""
        return _rows(self._connection, name, params)


class Writer:
    """The one read-write connection. Statements come from `sql/`; table names from the schema's closed list."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, warehouse: Warehouse) -> None:
        self._connection = connection
        self._is_in_transaction = False
        self._sound: set[Path] = set()
        self.warehouse = warehouse
        self.folder = warehouse.folder

    @property
    def scratch(self) -> Path:
        """The folder for what a run needs for a while, on the disk of the warehouse."""
        return self.folder / "tmp"

    def prepare(self) -> None:
        """Refuse another version's layout untouched, create it where it is missing, make the session's macros."""
        _require_layout(self._connection, self.folder)
        with self.transaction():
            for schema in ("core", "mart", "ops"):
                self._connection.execute(f"create schema if not exists {schema}")
            for name in queries.names("schema"):
                self._connection.execute(queries.load(name).text)
            self._connection.execute(queries.load("ops/first_schema_version").text, {"version": SCHEMA_VERSION})
        for name in queries.names("ingest/macros"):
            self._connection.execute(queries.load(name).text)

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
        return _rows(self._connection, name, params)

    def frame(self, name: str, **params: Any) -> pl.DataFrame:
        """Run `sql/<name>.sql` and return a frame."""
        query = queries.load(name)
        frame: pl.DataFrame = self._connection.sql(query.text, params=query.bind(params) or None).pl()
        return frame

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
        marks = ", ".join(f"${column}" for column in columns)
        self._connection.executemany(
            f"insert into {self._known(table)} ({', '.join(columns)}) values ({marks})",
            [{column: row[column] for column in columns} for row in rows],
        )

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
        self._connection.execute(f"create or replace temp view lake as {_lake_sql(self.folder, files)}")
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
            if _sha256(path) != row["sha256"]:
                raise ValleywatchError(f"{path} is not what was written: put it back from a backup, or {_FROM_LOGS}")
            self._sound.add(path)

    def write_parquet(self, name: str, relative: Path, **params: Any) -> dict[str, Any]:
        """Write the rows of `sql/<name>.sql` into a new file of the lake, durably; return its size_bytes and sha256."""
        target = self.folder / relative
        _make_folder(target.parent)
        aside = target.with_suffix(".tmp")
        query = queries.load(name)
        options = "format parquet, compression zstd, parquet_version v2"
        self._connection.execute(
            f"copy ({query.text}) to {_literal(str(aside))} ({options})", query.bind(params) or None
        )
        # Never written again: a slip of a hand or of a tool should meet a closed door.
        aside.chmod(0o400)
        reach("parquet_aside")
        _sync_rename(aside, target)
        return {"size_bytes": target.stat().st_size, "sha256": _sha256(target)}

    def publish(self) -> Path:
        """Write a new snapshot aside, sync it, and swap the link readers follow; return the snapshot's path."""
        folder = self.folder / "snapshots"
        numbers = sorted(int(path.stem.split("-")[1]) for path in self.warehouse.snapshots())
        target = folder / f"valleywatch-{numbers[-1] + 1 if numbers else 1:06d}.duckdb"
        aside = target.with_suffix(".tmp")
        aside.unlink(missing_ok=True)
        self._connection.execute(f"attach {_literal(str(aside))} as snapshot")
        try:
            self._connection.execute("copy from database warehouse to snapshot")
            files = [row["file"] for row in self.rows("ops/lake_files")]
            self._connection.execute("use snapshot")
            self._connection.execute(f"create or replace view lake as {_lake_sql(self.folder, files)}")
            for name in queries.names("views"):
                view = name.removeprefix("views/")
                self._connection.execute(f"create or replace view main.{view} as {queries.load(name).text}")
            for name in queries.names("macros"):
                self._connection.execute(queries.load(name).text)
        finally:
            self._connection.execute("use warehouse")
            self._connection.execute("detach snapshot")
        aside.chmod(0o600)
        reach("snapshot_aside")
        _sync_rename(aside, target)
        reach("snapshot_named")
        link = self.folder / "valleywatch.link"
        link.unlink(missing_ok=True)
        link.symlink_to(target.relative_to(self.folder))
        _sync_rename(link, self.folder / "valleywatch.duckdb", sync_content=False)
        reach("snapshot_linked")
        for number in numbers[: len(numbers) + 1 - KEPT_SNAPSHOTS]:
            (folder / f"valleywatch-{number:06d}.duckdb").unlink(missing_ok=True)
        self._discard_unlisted()
        return target

    def take_over(self, snapshot: Path) -> None:
        """Fill the tables of this new database from a snapshot; raise ValleywatchError where it is not all sound."""
        tables = self._connection.execute(
            "select schema_name || '.' || table_name from duckdb_tables() where database_name = current_database() "
            "and not temporary and table_name != 'schema_version'"
        ).fetchall()
        self._connection.execute(f"attach {_literal(str(snapshot))} as source (read_only)")
        try:
            with self.transaction():
                for (table,) in tables:
                    self._connection.execute(f"insert into {table} by name select * from source.{table}")
        finally:
            self._connection.execute("detach source")

    def _discard_unlisted(self) -> None:
        """Remove the files of the lake that neither the warehouse nor a kept snapshot lists."""
        query = queries.load("ops/lake_files").text
        listed = {row["file"] for row in self.rows("ops/lake_files")}
        unlisted = {str(path.relative_to(self.folder)) for path in self.folder.glob("lake/*/*.parquet")} - listed
        for snapshot in self.warehouse.snapshots() if unlisted else ():
            try:
                self._connection.execute(f"attach {_literal(str(snapshot))} as kept (read_only)")
                try:
                    unlisted -= {
                        file for (file,) in self._connection.execute(query.replace("ops.", "kept.ops.")).fetchall()
                    }
                finally:
                    self._connection.execute("detach kept")
            except duckdb.Error:
                return  # what a damaged snapshot needs is not known: nothing is removed
        for file in unlisted:
            (self.folder / file).unlink(missing_ok=True)

    def _known(self, table: str) -> str:
        schema, _, name = table.rpartition(".")
        declared = {query.split("_", 1)[1] for query in queries.names("schema")} | {"staged"}
        if name not in declared:
            raise ValueError(f"{table!r} is no table of sql/schema")
        return f"{schema}.{name}" if schema else name


def _require_layout(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Raise UsageError where the open warehouse or snapshot has another layout; an empty one has none yet."""
    try:
        found = _rows(connection, "ops/schema_version", {})[0]["version"]
    except duckdb.CatalogException:
        return
    if found is not None and found != SCHEMA_VERSION:
        newer = "install the newer valleywatch that wrote it, or " if found > SCHEMA_VERSION else ""
        raise UsageError(
            f"{folder} was written by layout {found}, this version reads layout {SCHEMA_VERSION}: "
            f"{newer}move the folder aside and run again to rebuild it from the logs"
        )


def _require_reading(connection: duckdb.DuckDBPyConnection, text: str) -> None:
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
            _require_reading(connection, explained)
        elif statement.type != duckdb.StatementType.SELECT:
            name = statement.type.name
            raise QueryError(
                f"{_REFUSED.get(name, name)} is refused: only statements that read are answered (select, with, from, "
                "describe, show, summarize, explain); to keep a result, redirect the output of --csv or --json"
            )


def _connect(
    path: Path | None, folder: Path, memory_limit: str, *, attach: Path | None = None
) -> duckdb.DuckDBPyConnection:
    """Connect with everything that could leave the warehouse folder switched off; the order of the settings matters."""
    config: dict[str, Any] = {**_CONNECT, "memory_limit": memory_limit}
    if path is not None:
        config["temp_directory"] = str(folder / "tmp")
    try:
        connection = duckdb.connect(str(path) if path else ":memory:", config=config)
        if attach is not None:
            connection.execute(f"attach {_literal(str(attach))} as valleywatch (read_only)")
            connection.execute("use valleywatch")
    except duckdb.Error as error:
        raise _disk_full(folder, error) or ValleywatchError(_unreadable(attach or path or folder, error)) from None
    allowed = folder / "lake" if path is None else folder
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set enable_progress_bar = false")
    connection.execute(f"set allowed_directories = [{_literal(f'{allowed}/')}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def _rows(connection: duckdb.DuckDBPyConnection, name: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    query = queries.load(name)
    result = connection.execute(query.text, query.bind(params) or None)
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def _lake_sql(folder: Path, files: Iterable[str]) -> str:
    """Return the select over exactly these Parquet files; without any, the empty table gives columns and types."""
    paths = ", ".join(_literal(str(folder / file)) for file in files)
    empty = "select *, null::varchar as filename from core.no_requests"
    return f"{empty} union all by name select * from read_parquet([{paths}], filename = true)" if paths else empty


def _literal(text: str) -> str:
    """Quote a path from the configuration: the one kind of value DuckDB takes only as a literal in these statements."""
    return "'" + text.replace("'", "''") + "'"


def _is_damage(error: Exception) -> bool:
    """Say whether the engine found a file of ours damaged, which it tells in words alone."""
    return re.search(_DAMAGE_WORDS, str(error)) is not None


def _unreadable(path: Path, error: Exception) -> str:
    """Say what is wrong with a database file and what mends it."""
    first = str(error).partition("\n")[0]
    if path.name != "warehouse.duckdb":
        return f"{path} cannot be read: {first}; delete it and run `valleywatch run`, which publishes another"
    return (
        f"{path} cannot be opened: {first}; if it is damaged, `valleywatch rebuild` puts it aside and begins again "
        "from the newest sound snapshot, or from the logs"
    )


def _disk_full(folder: Path, error: Exception) -> DiskFullError | None:
    """Return what to say where `error` comes from a lack of space; DuckDB tells so in words alone."""
    if getattr(error, "errno", None) not in _NO_SPACE and not re.search(_NO_SPACE_WORDS, str(error)):
        return None
    return DiskFullError(
        f"no space is left for {folder} ({shutil.disk_usage(folder).free:,} bytes are free): free some and run again; "
        f"what was committed before stays, what was not is done anew ({error})"
    )


@contextmanager
def _lock(path: Path, wait_s: float) -> Iterator[None]:
    """Hold an exclusive lock on `path`; the kernel frees it however the process ends."""
    deadline = time.monotonic() + wait_s
    with path.open("a+") as file:
        path.chmod(0o600)
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                if time.monotonic() >= deadline:
                    file.seek(0)
                    holder = file.read().strip() or "unknown"
                    raise BusyError(
                        f"{path.parent} is being written by process {holder}: try again when it has ended"
                    ) from None
                time.sleep(0.05)
        file.seek(0)
        file.truncate()
        file.write(str(os.getpid()))
        file.flush()
        yield


def _make_folder(folder: Path) -> None:
    """Make a folder where it is missing, its name on disk before anything in it is relied on."""
    if folder.is_dir():
        return
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    folder.mkdir(mode=0o700, exist_ok=True)
    _sync_folder(folder.parent)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _sync_rename(source: Path, target: Path, *, sync_content: bool = True) -> None:
    """Rename durably: content on disk before the name points at it, the name on disk before returning."""
    if sync_content:
        with source.open("rb") as file:
            os.fsync(file.fileno())
    source.replace(target)
    _sync_folder(target.parent)
