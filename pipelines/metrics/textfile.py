"""The exposition as a file for the node exporter's textfile collector.

Belongs here: its place, its mode, and that nobody ever reads half of it. Does not belong here: its content.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from pipelines import heartbeat
from pipelines.errors import ValleywatchError
from pipelines.files import write_whole
from pipelines.metrics.exposition import as_text, read_families
from pipelines.settings import Settings
from pipelines.warehouse import Warehouse

MODE = 0o644
"""The exporter is another user. What the file tells of is the operator's choice; the warehouse itself stays closed."""


def write_textfile(warehouse: Warehouse, path: Path) -> None:
    """Write what is published; raise ValleywatchError where that is not possible, the file before it untouched."""
    text = as_text(read_families(warehouse))
    try:
        write_whole(path, text, MODE)
    except OSError as error:
        raise ValleywatchError(
            f"metrics were not written to {path}: {error.strerror}; the folder must be there and this user's to write. "
            "Results and snapshot are as published"
        ) from error


def publish_metrics(settings: Settings, warehouse: Warehouse, tell: Callable[[str], None]) -> None:
    """Write the file that the configuration names, if any, where what is published is newer: for whoever publishes.

    Raises ValleywatchError where it cannot be written.
    """
    if settings.metrics.textfile is None or not warehouse.snapshot.exists():
        return
    path = settings.folder / settings.metrics.textfile
    published = [warehouse.snapshot, warehouse.folder / heartbeat.NAME]
    if path.exists() and all(path.stat().st_mtime_ns > of.stat().st_mtime_ns for of in published if of.exists()):
        return
    write_textfile(warehouse, path)
    tell(f"metrics: {path}")
