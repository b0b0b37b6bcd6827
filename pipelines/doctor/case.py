"""What every check is given: the configuration, the moment, and where the machine tells about itself.

Belongs here: these, so that a test can set each of them. Does not belong here: findings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from pipelines.settings import Settings
from pipelines.warehouse import Warehouse


@dataclass(frozen=True, slots=True)
class Case:
    """One examination. now carries an offset; environment is what the command was started with."""

    config: Path
    settings: Settings
    now: datetime
    environment: Mapping[str, str]
    proc: Path = Path("/proc")
    """Where the kernel tells of processes and mounts."""
    run: Path = Path("/run")
    """Where services of the machine leave their state."""

    @property
    def warehouse(self) -> Warehouse:
        """The warehouse the configuration names."""
        return Warehouse(self.settings.warehouse_folder, memory_limit=self.settings.warehouse.memory_limit)

    @property
    def folder(self) -> Path:
        """Its folder."""
        return self.settings.warehouse_folder

    def age_s(self, moment: datetime) -> float:
        """Return the seconds since `moment`; negative where it lies ahead."""
        return (self.now - moment).total_seconds()


def changed_at(path: Path) -> datetime:
    """Return when the content of a file was last written; raise OSError where it cannot be seen."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC)
