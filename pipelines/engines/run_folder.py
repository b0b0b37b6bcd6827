"""Where Spark writes: `spark/run=<id>/` in the warehouse, a fresh folder each time, read when all of it is there.

Belongs here: names, completeness, removal. Does not belong here: what is written, the commit that publishes it: rows
count once the warehouse has taken them over, in one transaction, and then the folder goes. A driver that is killed
leaves a folder that nothing reads; the next one removes it.
"""

from __future__ import annotations

import secrets
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from pipelines.engines.settings import PLAIN_FOLDER, SparkSettings, is_plain
from pipelines.errors import UsageError, ValleywatchError
from pipelines.warehouse.disk import make_folder

MARK = "_SUCCESS"
"""Spark writes it last, after every task's file has been moved to its place."""


@dataclass(frozen=True)
class RunFolder:
    """One folder: `path` here, `url` where the cluster sees it."""

    path: Path
    url: str
    run_id: str = field(default_factory=lambda: secrets.token_hex(8))

    @property
    def _name(self) -> str:
        return f"run={self.run_id}"

    def url_of(self, table: str) -> str:
        """Return where the cluster writes and reads a table."""
        return f"{self.url}/{self._name}/{table}"

    def files_of(self, table: str) -> list[Path]:
        """Return a table's files; raise ValleywatchError unless its write was finished."""
        folder = self.path / self._name / table
        if not (folder / MARK).exists():
            raise ValleywatchError(
                f"Spark says that it wrote {folder}, but {MARK} is not in it: the cluster must see the warehouse's own "
                "folder, under its own path or under that of spark.folder; the marts are as they were"
            )
        return sorted(folder.glob("part-*.parquet"))

    def remove(self) -> None:
        """Remove the folder."""
        shutil.rmtree(self.path / self._name, ignore_errors=True)


def folder_of(warehouse_folder: Path) -> Path:
    """Return Spark's own folder in a warehouse, made where it is missing."""
    make_folder(warehouse_folder / "spark")
    return warehouse_folder / "spark"


def new(warehouse_folder: Path, settings: SparkSettings) -> RunFolder:
    """Return a fresh folder, and remove those of runs that were killed; whoever asks holds the writer's lock."""
    path = folder_of(warehouse_folder)
    for left in path.glob("run=*"):
        shutil.rmtree(left, ignore_errors=True)
    return RunFolder(path, f"{warehouse_url(warehouse_folder, settings)}/spark")


def warehouse_url(warehouse_folder: Path, settings: SparkSettings) -> str:
    """Return where the cluster sees the warehouse; raise UsageError where Spark would read that as something else."""
    seen = settings.folder if settings.folder is not None else str(warehouse_folder)
    if not is_plain(seen):
        raise UsageError(
            f"warehouse.path: {seen!r} cannot be given to Spark: {PLAIN_FOLDER}; move it, or set spark.folder"
        )
    return (f"file://{seen}" if seen.startswith("/") else seen).rstrip("/")
