"""What instances cost: the rows of `[[costs]]`, and the cost of a deployment-hour.

Belongs here: the keys' bounds, which rows hold in an hour, how many instances are paid for at which of them. Does not
belong here: the arithmetic (`models.profit.InstanceCost`), precedence (`prices.precedence`), counting instances (SQL).

Of each kind the row that goes before holds: an exact name may reserve two instances while a glob prices all others on
demand. What runs is what the log names; where it names no instance, the `instances` of the rows that hold.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import Annotated, Literal

import numpy as np
from pydantic import Field, model_validator

from models.profit import InstanceCost
from pipelines.prices.precedence import END_THE_EARLIER, Wording, require_consistent, rows_of
from pipelines.prices.rows import Currency, Instant, to_minute
from pipelines.section import NonEmpty, Section

MINUTES_PER_HOUR = 60
WORDING = Wording("the costs", "cost the same kind of instances of", END_THE_EARLIER)
Kind = Literal["on_demand", "reserved", "spot"]


class CostSettings(Section):
    """What an instance of the deployments that match a glob costs an hour."""

    deployment: NonEmpty
    effective_from: Instant
    """A UTC date or whole hour."""
    effective_to: Instant | None = None
    """Where the row no longer holds; without it, it holds until a later row of the same glob and kind takes over."""
    per_instance_hour: Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
    kind: Kind = "on_demand"
    """reserved: paid for whether they run or not. spot: what runs beside the reserved ones, before on demand."""
    instances: Annotated[int, Field(ge=1, le=1_000_000)] | None = None
    """How many of this kind; how many run where the log names none. All that run, where it is not given."""
    currency: Currency = "USD"

    @model_validator(mode="after")
    def _consistent(self) -> CostSettings:
        if self.kind == "reserved" and self.instances is None:
            raise ValueError("instances: required of reserved ones, which are paid for whether they run or not")
        for name in ("effective_from", "effective_to"):
            instant = getattr(self, name)
            if instant is not None and instant.minute:
                raise ValueError(f"{name} {instant:%Y-%m-%d %H:%M} is no whole hour: costs are by the hour")
        if self.effective_to is not None and self.effective_to <= self.effective_from:
            raise ValueError(
                f"effective_to {self.effective_to:%Y-%m-%d %H:%M} is not after "
                f"effective_from {self.effective_from:%Y-%m-%d %H:%M}"
            )
        return self

    def row(self, source: str) -> CostRow:
        """Return what the keys mean; `source` says where they are written."""
        return CostRow(
            deployment=self.deployment,
            from_minute=to_minute(self.effective_from),
            to_minute=None if self.effective_to is None else to_minute(self.effective_to),
            per_instance_hour=self.per_instance_hour,
            kind=self.kind,
            instances=self.instances,
            currency=self.currency,
            source=source,
        )


@dataclass(frozen=True, slots=True)
class CostRow:
    """A row as it is looked up. Minutes since 1970-01-01T00Z, the end exclusive."""

    deployment: str
    from_minute: int
    to_minute: int | None
    per_instance_hour: float
    kind: Kind
    instances: int | None
    currency: str
    source: str

    @property
    def is_unrestricted(self) -> bool:
        """A row is of one kind of instances."""
        return False

    def meets(self, other: CostRow) -> bool:
        """Say whether both are of one kind."""
        return self.kind == other.kind

    def holds_at(self, minute: int) -> bool:
        """Say whether the row holds in this minute."""
        return self.from_minute <= minute and (self.to_minute is None or minute < self.to_minute)


@dataclass(frozen=True, slots=True)
class HourCost:
    """What an hour cost, and the instances paid for; None where `reason` says why that is not known."""

    instance_hours: float | None = None
    cost: float | None = None
    currency: str | None = None
    reason: str | None = None


class Costs:
    """All cost rows."""

    def __init__(self, rows: Iterable[CostRow]) -> None:
        """Raise UsageError that names the rows of which neither goes before the other."""
        self.rows = tuple(rows)
        require_consistent(self.rows, WORDING)
        self._rows_of = cache(lambda deployment: rows_of(self.rows, deployment))

    def of(self, deployment: str, hour_index: int, n_seen: int | None) -> HourCost:
        """Return what an hour cost in which so many instances were seen; None: the log names none."""
        held: dict[str, CostRow] = {}
        for row in self._rows_of(deployment):
            if row.holds_at(hour_index * MINUTES_PER_HOUR):
                held.setdefault(row.kind, row)
        if not held:
            return HourCost(instance_hours=n_seen, reason="no_cost")
        n_running = n_seen
        if n_running is None:
            counts = [row.instances for row in held.values()]
            n_running = None if None in counts else sum(filter(None, counts))
        if n_running is None:
            return HourCost(reason="instances_not_known")
        n_reserved = _count(held.get("reserved"), n_running)
        n_spot = _count(held.get("spot"), n_running)
        n_paid = max(n_running, n_reserved)
        if "on_demand" not in held and n_running > n_reserved + n_spot:
            return HourCost(instance_hours=n_paid, reason="instances_without_cost")
        currencies = {row.currency for row in held.values()}
        if len(currencies) > 1:
            return HourCost(instance_hours=n_paid, reason="costs_in_several_currencies")
        price = {kind: row.per_instance_hour for kind, row in held.items()}
        found = InstanceCost(
            on_demand_per_hour=price.get("on_demand", 0.0),
            n_reserved=n_reserved,
            reserved_per_hour=price.get("reserved", 0.0),
            n_spot=n_spot,
            spot_per_hour=price.get("spot", 0.0),
        ).of(np.array([n_running], dtype=np.float64))
        return HourCost(n_paid, float(found[0]), currencies.pop())


def _count(row: CostRow | None, n_running: int) -> int:
    """Return how many instances a row is for: none without one, all that run where it does not say."""
    if row is None:
        return 0
    return n_running if row.instances is None else row.instances


def costs_of(settings: Iterable[CostSettings]) -> Costs:
    """Return the rows of the configuration."""
    return Costs(cost.row(f"costs.{number}") for number, cost in enumerate(settings, 1))
