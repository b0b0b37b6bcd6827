"""What readers open: a copy of the warehouse with its views, swapped in whole; and what no copy needs any more.

Belongs here: making, naming, keeping and removing snapshots. Does not belong here: their readers (`reader`).
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from pipelines import queries
from pipelines.faults import reach
from pipelines.warehouse.disk import sync_rename
from pipelines.warehouse.engine import fetch_rows, lake_sql, literal

if TYPE_CHECKING:
    from pipelines.warehouse.folder import Warehouse

KEPT_SNAPSHOTS = 3
"""Published snapshots kept, the newest included: a reader that opened an older one can finish its work."""


def publish(connection: duckdb.DuckDBPyConnection, warehouse: Warehouse) -> Path:
    """Write a new snapshot aside, sync it, and swap the link readers follow; return the snapshot's path."""
    folder = warehouse.folder / "snapshots"
    numbers = sorted(int(path.stem.split("-")[1]) for path in warehouse.snapshots())
    target = folder / f"valleywatch-{numbers[-1] + 1 if numbers else 1:06d}.duckdb"
    aside = target.with_suffix(".tmp")
    aside.unlink(missing_ok=True)
    connection.execute(f"attach {literal(str(aside))} as snapshot")
    try:
        connection.execute("copy from database warehouse to snapshot")
        files = [row["file"] for row in fetch_rows(connection, "ops/lake_files", {})]
        connection.execute("use snapshot")
        connection.execute(f"create or replace view lake as {lake_sql(warehouse.folder, files)}")
        for name in queries.names("views"):
            view = name.removeprefix("views/")
            connection.execute(f"create or replace view main.{view} as {queries.load(name).text}")
        for name in queries.names("macros"):
            connection.execute(queries.load(name).text)
    finally:
        connection.execute("use warehouse")
        connection.execute("detach snapshot")
    aside.chmod(0o600)
    reach("snapshot_aside")
    sync_rename(aside, target)
    reach("snapshot_named")
    link = warehouse.folder / "valleywatch.link"
    link.unlink(missing_ok=True)
    link.symlink_to(target.relative_to(warehouse.folder))
    sync_rename(link, warehouse.folder / "valleywatch.duckdb", sync_content=False)
    reach("snapshot_linked")
    for number in numbers[: len(numbers) + 1 - KEPT_SNAPSHOTS]:
        (folder / f"valleywatch-{number:06d}.duckdb").unlink(missing_ok=True)
    _discard_unlisted(connection, warehouse)
    return target


def _discard_unlisted(connection: duckdb.DuckDBPyConnection, warehouse: Warehouse) -> None:
    """Remove the files of the lake that neither the warehouse nor a kept snapshot lists."""
    query = queries.load("ops/lake_files").text
    listed = {row["file"] for row in fetch_rows(connection, "ops/lake_files", {})}
    unlisted = {str(path.relative_to(warehouse.folder)) for path in warehouse.folder.glob("lake/*/*.parquet")} - listed
    for snapshot in warehouse.snapshots() if unlisted else ():
        try:
            connection.execute(f"attach {literal(str(snapshot))} as kept (read_only)")
            try:
                unlisted -= {file for (file,) in connection.execute(query.replace("ops.", "kept.ops.")).fetchall()}
            finally:
                connection.execute("detach kept")
        except duckdb.Error:
            return  # what a damaged snapshot needs is not known: nothing is removed
    for file in unlisted:
        (warehouse.folder / file).unlink(missing_ok=True)
