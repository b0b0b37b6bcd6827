"""What assets are given: the configuration, the warehouse and the clock.

Belongs here: Dagster resources. Does not belong here: anything they are used for.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from datetime import UTC, datetime
from pathlib import Path

import dagster as dg

from pipelines.opening import warehouse_of
from pipelines.settings import Settings, load_settings
from pipelines.warehouse import Warehouse, Writer

WRITER_WAIT_S = 120.0
"""How long a step waits for another process to finish with the warehouse before it fails as `try again`."""


class Workplace(dg.ConfigurableResource):  # type: ignore[type-arg]
    """The configuration file and what it names."""

    config_path: str
    """Path of valleywatch.toml."""
    fixed_now: str | None = None
    """ISO 8601 instant that stands for the present, for runs that must be repeatable; unset: the machine's clock."""
    n_retries: int = 4
    """How often a step that met a passing fault is tried again; `valleywatch run` leaves that to who called it."""

    def settings(self) -> Settings:
        """Read the configuration."""
        return load_settings(Path(self.config_path))

    def warehouse(self) -> Warehouse:
        """Return the warehouse that the configuration names."""
        settings = self.settings()
        return warehouse_of(settings)

    def writer(self) -> AbstractContextManager[Writer]:
        """Open the warehouse for writing."""
        return self.warehouse().writer(wait_s=WRITER_WAIT_S)

    def now(self) -> datetime:
        """Return the present."""
        return datetime.fromisoformat(self.fixed_now) if self.fixed_now else datetime.now(UTC)
