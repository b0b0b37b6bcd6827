"""DuckDB connections: locked down when they are made, of one layout, and words for what can be wrong with a database.

Belongs here: what readers and the writer have in common. Does not belong here: either of them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import duckdb
import polars as pl

from pipelines import queries
from pipelines.errors import UsageError, ValleywatchError
from pipelines.stopping import ended_by
from pipelines.warehouse.disk import disk_full

SCHEMA_VERSION = 5

CONNECT = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "allow_community_extensions": False,
    "preserve_insertion_order": False,
}
FOLDER_VARIABLE = "valleywatch_folder"
"""The session's variable that tells a snapshot's views where the warehouse is; without it, where it was published."""
_DAMAGE_WORDS = r"(?i)corrupt|checksum|not a valid DuckDB|failed to load metadata|replay|deseriali[sz]"


@contextmanager
def connected(
    path: Path | None, folder: Path, config: Mapping[str, Any], *, attach: Path | None = None
) -> Iterator[duckdb.DuckDBPyConnection]:
    """Connect with everything that could leave the warehouse folder switched off; a stop ends what it is doing."""
    connection = _connect(path, folder, config, attach)
    try:
        with ended_by(connection.interrupt):
            yield connection
    finally:
        connection.close()


def _connect(
    path: Path | None, folder: Path, config: Mapping[str, Any], attach: Path | None
) -> duckdb.DuckDBPyConnection:
    # The order of the settings matters.
    try:
        connection = duckdb.connect(str(path) if path else ":memory:", config={**CONNECT, **config})
        if attach is not None:
            connection.execute(f"attach {literal(str(attach))} as valleywatch (read_only)")
            connection.execute("use valleywatch")
            connection.execute(f"set variable {FOLDER_VARIABLE} = {literal(str(folder))}")
    except duckdb.Error as error:
        raise disk_full(folder, error) or ValleywatchError(unreadable(attach or path or folder, error)) from None
    allowed = folder / "lake" if path is None else folder
    connection.execute("set TimeZone = 'UTC'")
    connection.execute("set enable_progress_bar = false")
    connection.execute(f"set allowed_directories = [{literal(f'{allowed}/')}]")
    connection.execute("set enable_external_access = false")
    connection.execute("set lock_configuration = true")
    return connection


def require_layout(connection: duckdb.DuckDBPyConnection, folder: Path) -> bool:
    """Raise UsageError where the open warehouse or snapshot has another layout; return False where it has none yet."""
    try:
        found = fetch_rows(connection, "ops/schema_version", {})[0]["version"]
    except duckdb.CatalogException:
        return False
    if found is not None and found != SCHEMA_VERSION:
        newer = "install the newer valleywatch that wrote it, or " if found > SCHEMA_VERSION else ""
        raise UsageError(
            f"{folder} was written by layout {found}, this version reads layout {SCHEMA_VERSION}: "
            f"{newer}move the folder aside and run again to rebuild it from the logs"
        )
    return found is not None


def fetch_rows(connection: duckdb.DuckDBPyConnection, name: str, params: dict[str, Any]) -> list[dict[str, Any]]:
    query = queries.load(name)
    result = connection.execute(query.text, query.bind(params) or None)
    columns = [column[0] for column in result.description]
    return [dict(zip(columns, row, strict=True)) for row in result.fetchall()]


def fetch_frame(connection: duckdb.DuckDBPyConnection, name: str, params: dict[str, Any]) -> pl.DataFrame:
    query = queries.load(name)
    frame: pl.DataFrame = connection.sql(query.text, params=query.bind(params) or None).pl()
    return frame


def lake_sql(folder: Path, files: Iterable[str]) -> str:
    """Return the select over exactly these Parquet files; without any, the empty table gives columns and types."""
    return _union_sql(", ".join(literal(str(folder / file)) for file in files), "{}")


def movable_lake_sql(folder: Path, files: Iterable[str]) -> str:
    """Return the same select for a snapshot: the files are below the folder the session names, else below `folder`."""
    place = f"coalesce(getvariable('{FOLDER_VARIABLE}'), {literal(str(folder))})"
    listed = ", ".join(literal(f"/{file}") for file in files)
    return _union_sql(listed, f"list_transform({{}}, lambda file: {place} || file)")


def _union_sql(paths: str, wrapped: str) -> str:
    empty = "select *, null::varchar as filename, null::date as day from core.no_requests"
    if not paths:
        return empty
    # The day is that of the folder: a filter on it leaves the other days' files unopened.
    options = "filename = true, hive_partitioning = true, hive_types = {'day': date}"
    return f"{empty} union all by name select * from read_parquet({wrapped.format(f'[{paths}]')}, {options})"


def literal(text: str) -> str:
    """Quote a path from the configuration: the one kind of value DuckDB takes only as a literal in these statements."""
    return "'" + text.replace("'", "''") + "'"


def is_damage(error: Exception) -> bool:
    """Say whether the engine found a file of ours damaged, which it tells in words alone."""
    return re.search(_DAMAGE_WORDS, str(error)) is not None


def unreadable(path: Path, error: Exception) -> str:
    """Say what is wrong with a database file and what mends it."""
    first = str(error).partition("\n")[0]
    if path.name != "warehouse.duckdb":
        return f"{path} cannot be read: {first}; delete it and run `valleywatch run`, which publishes another"
    return (
        f"{path} cannot be opened: {first}; if it is damaged, `valleywatch rebuild` puts it aside and begins again "
        "from the newest sound snapshot, or from the logs"
    )
