"""What readers open: a copy of the warehouse with its views, swapped in whole.

Belongs here: making and naming snapshots. Does not belong here: their readers (`reader`), how long they stay
(`retention`), what their comments say (`comments`).
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb

from pipelines import queries
from pipelines.faults import reach
from pipelines.warehouse.comments import write_comments
from pipelines.warehouse.disk import sync_rename
from pipelines.warehouse.engine import fetch_rows, literal, movable_lake_sql
from pipelines.warehouse.retention import discard

if TYPE_CHECKING:
    from pipelines.warehouse.folder import Warehouse


def publish(connection: duckdb.DuckDBPyConnection, warehouse: Warehouse) -> Path:
    """Write a new snapshot aside, sync it, and swap the link readers follow; return the snapshot's path."""
    folder = warehouse.folder / "snapshots"
    newest = max((int(path.stem.split("-")[1]) for path in warehouse.snapshots()), default=0)
    target = folder / f"valleywatch-{newest + 1:06d}.duckdb"
    aside = target.with_suffix(".tmp")
    aside.unlink(missing_ok=True)
    connection.execute(f"attach {literal(str(aside))} as snapshot")
    try:
        connection.execute("copy from database warehouse to snapshot")
        files = [row["file"] for row in fetch_rows(connection, "ops/lake_files", {})]
        connection.execute("use snapshot")
        connection.execute("begin")
        connection.execute(f"create or replace view main.lake as {movable_lake_sql(warehouse.folder, files)}")
        for name in queries.names("views"):
            view = name.removeprefix("views/")
            connection.execute(f"create or replace view main.{view} as {queries.load(name).text}")
        for name in queries.names("macros"):
            connection.execute(queries.load(name).text)
        write_comments(connection)
        connection.execute("commit")
    except duckdb.Error:
        with suppress(duckdb.Error):
            connection.execute("rollback")
        raise
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
    discard(connection, warehouse.folder, warehouse.snapshots(), warehouse.keep)
    return target
