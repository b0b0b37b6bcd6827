"""A damaged warehouse → a sound one, from the newest snapshot that is, or from the logs.

Belongs here: what is put aside and what takes its place; nothing is ever deleted. Does not belong here: how damage is
noticed (`warehouse`). A snapshot is a full copy of the warehouse as it was when it was published: manifest, quarantine,
marts, states and alerts. What came after it is read from the logs by the next run. Without a snapshot the warehouse
begins empty and the next run reads every log there is.
"""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

from pipelines.errors import ValleywatchError
from pipelines.warehouse import Warehouse

_NEW = "rebuilt.duckdb"


@dataclass(frozen=True, slots=True)
class Rebuilt:
    """What a rebuild did."""

    source: Path | None
    """The snapshot it began from; None: nothing, the logs are read again."""
    aside: Path
    """Where the old files are."""
    unsound: tuple[str, ...]
    """What was wrong with the snapshots that were newer."""


def rebuild(warehouse: Warehouse, *, from_logs: bool = False) -> Rebuilt:
    """Put the database aside and begin again; a warehouse that is being written raises BusyError."""
    with warehouse.explained(), warehouse.locked():
        unsound: list[str] = []
        source = None if from_logs else _copy_newest(warehouse, unsound)
        aside = _put_aside(warehouse.folder, with_lake=source is None)
        if source is not None:
            (warehouse.folder / _NEW).replace(warehouse.folder / "warehouse.duckdb")
    if source is not None:
        with warehouse.writer() as writer:
            writer.publish()
    return Rebuilt(source, aside, tuple(unsound))


def _copy_newest(warehouse: Warehouse, unsound: list[str]) -> Path | None:
    """Copy the newest sound snapshot into the new database; return it, or None when no snapshot is sound."""
    new = warehouse.folder / _NEW
    for snapshot in warehouse.snapshots():
        _remove(new)
        try:
            with warehouse.explained(), warehouse.opened(_NEW) as writer:
                writer.take_over(snapshot)
                writer.require_sound(writer.rows("ops/lake_sums"))
        except ValleywatchError as error:
            unsound.append(f"{snapshot}: {error}")
        else:
            return snapshot
    _remove(new)
    return None


def _put_aside(folder: Path, *, with_lake: bool) -> Path:
    """Move the database into a folder of its own; the lake stays for the snapshots, and is kept there by links too."""
    number = 1 + len(list(folder.glob("damaged-*")))
    aside = folder / f"damaged-{number:04}"
    aside.mkdir(mode=0o700)
    for path in sorted(folder.glob("warehouse.duckdb*")):
        path.replace(aside / path.name)
    if with_lake:
        shutil.copytree(folder / "lake", aside / "lake", copy_function=os.link)
    return aside


def _remove(database: Path) -> None:
    for path in database.parent.glob(f"{database.name}*"):
        path.unlink()
