"""The folder of a warehouse: who may open it, and what a killed writer left in it.

Belongs here: opening the one writer and any number of readers. Does not belong here: what they do.
"""

from __future__ import annotations

import itertools
import re
import shutil
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import duckdb

from pipelines.errors import DiskFullError, UsageError, ValleywatchError
from pipelines.warehouse.disk import disk_full, lock, make_folder
from pipelines.warehouse.engine import connected, is_damage, require_layout, unreadable
from pipelines.warehouse.reader import Reader
from pipelines.warehouse.retention import Retention
from pipelines.warehouse.writer import Writer

KEEP = Retention()
RESERVE_BYTES = 32 << 20
"""Free space without which nothing is begun: twice the write-ahead log that the engine lets grow to 16 MiB."""
UNLOCKED_SCRATCH_S = 3600.0
_UNITS = {"MB": 10**6, "GB": 10**9, "MiB": 1 << 20, "GiB": 1 << 30}
_HALF_MADE = ("lake/*/*.tmp", "snapshots/*.tmp", "snapshots/*.tmp.wal", "valleywatch.link", "tmp/*")
_UNLOCKED = (".report-*.tmp", ".last_*.tmp")


class Warehouse:
    """The folder; opens the one writer and any number of readers."""

    def __init__(self, folder: Path, *, memory_limit: str = "640MiB", keep: Retention = KEEP) -> None:
        self.folder = folder
        self.memory_limit = memory_limit
        self.keep = keep

    @property
    def memory_bytes(self) -> int:
        """What the engine may use before it spills."""
        size = re.fullmatch(r"([0-9]+)([A-Za-z]+)", self.memory_limit)
        if size is None or size[2] not in _UNITS:
            raise ValueError(f"memory_limit {self.memory_limit!r} is not a number and one of {', '.join(_UNITS)}")
        return int(size[1]) * _UNITS[size[2]]

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
        with lock(self.folder / "writer.lock", wait_s):
            self._sweep()
            yield

    @contextmanager
    def opened(self, name: str) -> Iterator[Writer]:
        """Open a database of the folder for writing, made where it is missing; its owner holds the lock."""
        config = {"memory_limit": self.memory_limit, "temp_directory": str(self.folder / "tmp")}
        with connected(self.folder / name, self.folder, config) as connection:
            (self.folder / name).chmod(0o600)
            writer = Writer(connection, self)
            writer.prepare()
            yield writer

    @contextmanager
    def explained(self) -> Iterator[None]:
        """Say of an error of the engine, or of a full disk, what a person can do about it."""
        try:
            yield
        except (duckdb.Error, OSError) as error:
            if full := disk_full(self.folder, error):
                raise full from error
            if isinstance(error, OSError):
                raise ValleywatchError(
                    f"{error.filename or self.folder}: {error.strerror}; the warehouse needs a folder of its own that "
                    "this user may write: check owner, mode and mount, and run again; what was committed before stays"
                ) from error
            if is_damage(error):
                raise ValleywatchError(unreadable(self.folder / "warehouse.duckdb", error)) from error
            raise ValleywatchError(
                f"the engine refused a step on {self.folder}: {error}; what was committed before stays"
            ) from error

    def _make_folders(self) -> None:
        for folder in (self.folder, self.folder / "lake", self.folder / "snapshots", self.folder / "tmp"):
            try:
                make_folder(folder)
            except OSError as error:
                raise disk_full(self.folder, error) or UsageError(
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
        # Report and heartbeat are written without the lock: swept once no process can still be at their scratch files.
        for path in itertools.chain(*map(self.folder.glob, _UNLOCKED)):
            with suppress(FileNotFoundError):
                if time.time() - path.stat().st_mtime > UNLOCKED_SCRATCH_S:
                    path.unlink()

    @contextmanager
    def reader(self, *, timeout_s: float | None = None) -> Iterator[Reader]:
        """Open the published snapshot, read-only and locked down; a query longer than `timeout_s` is stopped.

        What does not fit in memory goes to a folder of the reader's own, since the warehouse may be mounted read-only.
        """
        if not self.snapshot.exists():
            raise UsageError(f"nothing is published in {self.folder} yet: run `valleywatch run` first")
        with (
            _scratch() as scratch,
            connected(None, self.folder, {
                "memory_limit": self.memory_limit,
                "temp_directory": scratch,
                "max_execution_time": 0 if timeout_s is None else max(1, round(timeout_s * 1000)),
            }, attach=self.snapshot.resolve()) as connection,
        ):  # fmt: skip
            try:
                require_layout(connection, self.folder)
                yield Reader(connection)
            except duckdb.Error as error:
                raise ValleywatchError(unreadable(self.snapshot.resolve(), error)) from error


@contextmanager
def _scratch() -> Iterator[str]:
    """Give a private folder for what does not fit in memory; the empty name, which is none, where none can be made."""
    with ExitStack() as made:
        try:
            folder = made.enter_context(tempfile.TemporaryDirectory(prefix="valleywatch-"))
        except OSError:
            folder = ""
        yield folder
