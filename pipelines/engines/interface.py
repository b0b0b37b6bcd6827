"""What the marts ask of an engine.

Belongs here: the interface. Does not belong here: an engine.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pipelines.warehouse import Writer


class Engine(Protocol):
    """Appends rows of marts, computed from the lake's files; the caller has removed those they replace.

    All is done inside the caller's transaction: what an engine leaves half done is rolled back. Engines give equal
    rows: statements of `sql/mart/` aggregate integers alone.
    """

    def append_hours(self, writer: Writer, mart: str, day_index: int, hours: Sequence[int]) -> None:
        """Append the rows of an hourly mart for these hours (hour indexes of the UTC day, ascending)."""

    def append_busy_periods(self, writer: Writer, day_index: int) -> None:
        """Append the busy periods of a UTC day."""

    def shown(self) -> dict[str, Any]:
        """Return what an orchestrator should show of the work since it was last asked; nothing where there is none."""
