"""How long what a reader may have open stays: superseded snapshots, and files of the lake that only they list.

A reader that has a snapshot open keeps it, on a local disk, whatever becomes of its name; the files of the lake it
opens anew for each query. So those stay for `hours` after the first publication without them, also where the snapshots
that list them had to go for lack of room. A mark beside such a file, `.unlisted` after its name, is as old as that.

Belongs here: what goes, and when. Does not belong here: making snapshots (`snapshots`).
"""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import duckdb

from pipelines import queries
from pipelines.warehouse.engine import fetch_rows, literal

ALWAYS_KEPT = 3
"""Newest snapshots that stay whatever their age and size: `valleywatch rebuild` begins from one of them."""
_MARK = ".unlisted"


@dataclass(frozen=True, slots=True)
class Retention:
    """hours: how long what is superseded stays. n_bytes: most that all snapshots may take, or those always kept."""

    hours: float = 24.0
    n_bytes: int = 8 << 30

    def superseded(self, snapshots: list[Path], now: float) -> list[Path]:
        """Return the snapshots, given newest first, that may go; one is superseded when the next is written."""
        stats = [path.stat() for path in snapshots]
        taken = 0
        for number, stat in enumerate(stats):
            taken += stat.st_size
            is_old = number > 0 and stats[number - 1].st_mtime <= now - self.hours * 3600
            if number >= ALWAYS_KEPT and (is_old or taken > self.n_bytes):
                return snapshots[number:]
        return []


def discard(connection: duckdb.DuckDBPyConnection, folder: Path, snapshots: list[Path], keep: Retention) -> None:
    """Remove what nobody can have open any more. snapshots: all there are, newest first, the present one included."""
    now = time.time()
    gone = keep.superseded(snapshots, now)
    for snapshot in gone:
        snapshot.unlink()
    _discard_files(connection, folder, snapshots[: len(snapshots) - len(gone)], now - keep.hours * 3600)


def _discard_files(
    connection: duckdb.DuckDBPyConnection, folder: Path, snapshots: list[Path], unlisted_before: float
) -> None:
    listed = {folder / row["file"] for row in fetch_rows(connection, "ops/lake_files", {})}
    marks = {path.with_suffix(""): path for path in folder.glob(f"lake/*/*.parquet{_MARK}")}
    for path in listed & marks.keys():
        marks[path].unlink()
    unlisted = set(folder.glob("lake/*/*.parquet")) - listed
    new = unlisted - marks.keys()
    # What not even the snapshot before this one lists was never published: merged away in the run that wrote it.
    seen = new & _files_of(connection, folder, snapshots[1:2], new)
    for path in seen:
        path.with_name(path.name + _MARK).touch(mode=0o600)
    old = {path for path in unlisted & marks.keys() if marks[path].stat().st_mtime <= unlisted_before}
    # A snapshot written after the mark does not list the file, so of the many that are kept few are asked.
    before = [path for path in snapshots[1:] if path.stat().st_mtime <= unlisted_before]
    needed = _files_of(connection, folder, before, old)
    for path in (new - seen) | (old - needed):
        path.unlink()
        path.with_name(path.name + _MARK).unlink(missing_ok=True)


def _files_of(
    connection: duckdb.DuckDBPyConnection, folder: Path, snapshots: Iterable[Path], asked: set[Path]
) -> set[Path]:
    """Return those of the files `asked` that a snapshot lists; all of them where one cannot be read."""
    query = queries.load("ops/lake_files").text.replace("ops.", "kept.ops.")
    found: set[Path] = set()
    for snapshot in snapshots if asked else ():
        try:
            connection.execute(f"attach {literal(str(snapshot))} as kept (read_only)")
            try:
                found |= {folder / file for (file,) in connection.execute(query).fetchall()}
            finally:
                connection.execute("detach kept")
        except duckdb.Error:
            return asked
    return found & asked
