"""When the job last did all there was to do, and when it last could not: small files that need no lock to be read.

Belongs here: writing and reading them. Does not belong here: what follows from their age (`doctor`, `metrics`).
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path

from pipelines import __version__
from pipelines.errors import BusyError, UsageError, ValleywatchError
from pipelines.warehouse import Warehouse
from pipelines.warehouse.disk import sync_rename

NAME = "last_success.json"
FAILURE_NAME = "last_failure.json"


@dataclass(frozen=True, slots=True)
class Heartbeat:
    """The last success. finished_at: ISO 8601, UTC; day: the last UTC date that was done, None where none was due."""

    finished_at: str
    day: str | None
    version: str

    @property
    def finished(self) -> datetime:
        """Return the moment."""
        return _moment(self.finished_at)


@dataclass(frozen=True, slots=True)
class Failure:
    """The last run that could not do all there was to do. begun_at: ISO 8601, UTC; error: what it told its user."""

    begun_at: str
    error: str
    exit_code: int
    version: str

    @property
    def begun(self) -> datetime:
        """Return the moment."""
        return _moment(self.begun_at)


def beat(warehouse: Warehouse, now: datetime, day: str | None) -> None:
    """Note that everything due was done and published."""
    _write(warehouse.folder / NAME, asdict(Heartbeat(now.isoformat(), day, __version__)))


@contextmanager
def noting_failure(warehouse: Warehouse, now: datetime) -> Iterator[None]:
    """Note what a run failed of, for whoever asks later why there was no success.

    A run that was asked for the impossible, or came while another one was at it, says nothing about the job. A note
    that cannot be written must not hide the error.
    """
    try:
        yield
    except (BusyError, UsageError):
        raise
    except ValleywatchError as error:
        with suppress(OSError):
            failure = Failure(now.isoformat(), str(error), error.exit_code, __version__)
            _write(warehouse.folder / FAILURE_NAME, asdict(failure))
        raise


def last_beat(warehouse: Warehouse) -> Heartbeat | None:
    """Return the last success; None where there was none, or what is there cannot be read: neither is a success."""
    try:
        beat = Heartbeat(**json.loads((warehouse.folder / NAME).read_text()))
        _ = beat.finished
    except (OSError, ValueError, TypeError):
        return None
    return beat


def last_failure(warehouse: Warehouse) -> Failure | None:
    """Return the last failure; None where there was none, or what is there cannot be read."""
    try:
        failure = Failure(**json.loads((warehouse.folder / FAILURE_NAME).read_text()))
        _ = failure.begun
    except (OSError, ValueError, TypeError):
        return None
    return failure


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text!r} has no offset")
    return moment


def _write(path: Path, content: dict[str, object]) -> None:
    """Replace a file whole; the lock is not held, so that each process writes aside under a name of its own."""
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    aside.touch(mode=0o600)
    aside.write_text(json.dumps(content) + "\n")
    sync_rename(aside, path)
