"""When the job last did all there was to do: a small file that needs no lock to be read.

Belongs here: writing and reading it. Does not belong here: what follows from its age (`doctor`, `metrics`).
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from datetime import datetime

from pipelines import __version__
from pipelines.warehouse import Warehouse
from pipelines.warehouse.disk import sync_rename

NAME = "last_success.json"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last success. finished_at: ISO 8601, UTC; day: the last UTC date that was done, None where none was due."""

    finished_at: str
    day: str | None
    version: str

    @property
    def finished(self) -> datetime:
        """Return the moment."""
        return datetime.fromisoformat(self.finished_at)


def beat(warehouse: Warehouse, now: datetime, day: str | None) -> None:
    """Note that everything due was done and published."""
    aside = warehouse.folder / f".{NAME}.tmp"
    aside.write_text(json.dumps(asdict(Heartbeat(now.isoformat(), day, __version__))) + "\n")
    aside.chmod(0o600)
    sync_rename(aside, warehouse.folder / NAME)


def last_beat(warehouse: Warehouse) -> Heartbeat | None:
    """Return the last success; None where there was none, or what is there cannot be read: neither is a success."""
    try:
        return Heartbeat(**json.loads((warehouse.folder / NAME).read_text()))
    except (OSError, ValueError, TypeError):
        return None
