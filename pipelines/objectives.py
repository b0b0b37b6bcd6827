"""Which answers are in time: the rows of `[[objectives]]`, and the one of a deployment.

Belongs here: the keys' bounds. Does not belong here: the gate (`sql/valley/tokens_by_price.sql`; `models.goodput` says
why there is one), precedence (`prices.precedence`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Annotated

from pydantic import Field, model_validator

from models.goodput import Objective
from pipelines.prices.precedence import Wording, require_consistent, rows_of
from pipelines.section import NonEmpty, Section

WORDING = Wording("the objectives", "say which answers are in time of", ": leave one of them out")
Seconds = Annotated[float, Field(gt=0, le=86_400, allow_inf_nan=False)]


class ObjectiveSettings(Section):
    """Longest times of an answer that still earns, both ends inclusive, for the deployments that match a glob."""

    deployment: NonEmpty
    ttft_s: Seconds | None = None
    """To the first token."""
    tpot_s: Seconds | None = None
    """By output token after the first."""
    e2e_s: Seconds | None = None
    """To the end."""

    @model_validator(mode="after")
    def _asks_for_something(self) -> ObjectiveSettings:
        if self.ttft_s is None and self.tpot_s is None and self.e2e_s is None:
            raise ValueError("asks for no time: give ttft_s, tpot_s or e2e_s")
        return self

    def row(self, source: str) -> ObjectiveRow:
        """Return what the keys mean; `source` says where they are written."""
        return ObjectiveRow(self.deployment, Objective(self.ttft_s, self.tpot_s, self.e2e_s), source)


@dataclass(frozen=True, slots=True)
class ObjectiveRow:
    """A row as it is looked up: it holds at any time."""

    deployment: str
    objective: Objective
    source: str
    from_minute: int = 0
    to_minute: int | None = None
    currency: str | None = None
    is_unrestricted: bool = True

    def meets(self, other: ObjectiveRow) -> bool:
        """Every two of them are about the same answers."""
        return isinstance(other, ObjectiveRow)


class Objectives:
    """All objectives."""

    def __init__(self, rows: Iterable[ObjectiveRow]) -> None:
        """Raise UsageError that names the rows of which neither goes before the other."""
        self.rows = tuple(rows)
        require_consistent(self.rows, WORDING)

    def of(self, deployment: str) -> Objective | None:
        """Return the objective of a deployment; None: all answers earn alike."""
        found = rows_of(self.rows, deployment)
        return found[0].objective if found else None


def objectives_of(settings: Iterable[ObjectiveSettings]) -> Objectives:
    """Return the rows of the configuration."""
    return Objectives(row.row(f"objectives.{number}") for number, row in enumerate(settings, 1))
