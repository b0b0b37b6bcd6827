"""Which row of a pattern holds, and which rows contradict each other: prices, costs and objectives alike.

Belongs here: precedence and its conflicts, whatever the rows say. Does not belong here: what they say (`rows`, `costs`,
`objectives`).

An exact name goes before a glob; of globs the one with more literal characters; of one glob's rows the later
`effective_from`. So a row without `effective_to` holds until a later one takes over, and nothing is left to the order
of rows in a file. Rows of which neither goes before are contradictions.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, groupby, islice, product
from typing import Any, Protocol, TypeVar

from pipelines.errors import UsageError
from pipelines.prices.globs import can_meet, is_exact, matches, n_literals

MAX_FAULTS = 20
"""Contradictions that one message tells of."""


class PatternRow(Protocol):
    """A row that holds for the deployments of a pattern, in minutes since 1970-01-01T00Z, the end exclusive."""

    @property
    def deployment(self) -> str:
        """The pattern."""

    @property
    def from_minute(self) -> int:
        """Where it begins to hold."""

    @property
    def to_minute(self) -> int | None:
        """Where it no longer holds; None: until a later row of the same pattern takes over."""

    @property
    def source(self) -> str:
        """Where it is written."""

    @property
    def currency(self) -> str | None:
        """What it is in; None where it is no money."""

    @property
    def is_unrestricted(self) -> bool:
        """Whether it holds for everything of its deployments while it is in force."""

    def meets(self, other: Any) -> bool:
        """Say whether both can be about the same thing, whatever their deployments and effective dates."""


END_THE_EARLIER = (
    " at the same time: give the earlier one an effective_to that is not after the later one's effective_from"
)
Row = TypeVar("Row", bound=PatternRow)


@dataclass(frozen=True, slots=True)
class Wording:
    """How a book says what is wrong with it: its name, what two of its rows do alike, and what keeps them apart."""

    book: str
    does: str
    remedy: str


def precedence(row: PatternRow, deployment: str) -> tuple[bool, int, int]:
    """Return what the rows of a deployment are sorted by, the ones that go before first."""
    return (row.deployment != deployment, -n_literals(row.deployment), -row.from_minute)


def rows_of(rows: Iterable[Row], deployment: str) -> tuple[Row, ...]:
    """Return the rows whose pattern the deployment matches, the ones that go before first."""
    found = [row for row in rows if matches(row.deployment, deployment)]
    return tuple(sorted(found, key=lambda row: precedence(row, deployment)))


def require_consistent(rows: Sequence[PatternRow], wording: Wording) -> None:
    """Raise UsageError that names the rows of which neither goes before the other, two by two."""
    faults = list(islice(chain(_contradictions(rows, wording), _ambiguities(rows)), MAX_FAULTS))
    if faults:
        raise UsageError(f"{wording.book} cannot be used:\n" + "\n".join(f"  {fault}" for fault in faults))


def _contradictions(rows: Sequence[PatternRow], wording: Wording) -> Iterator[str]:
    """Say which rows of one pattern are about the same thing, or mix currencies."""
    for earlier, later in _in_force_together(rows):
        both = f"{earlier.source} and {later.source}"
        takes_over = earlier.to_minute is None and earlier.from_minute < later.from_minute
        if earlier.meets(later) and not takes_over:
            yield f"{both} both {wording.does} {earlier.deployment!r}{wording.remedy}"
        elif earlier.currency != later.currency and not (takes_over and later.is_unrestricted):
            yield (
                f"{both} are for {earlier.deployment!r} in {earlier.currency} and {later.currency} at the "
                "same time: a deployment has one currency at a time; give the earlier one an effective_to"
            )


def _in_force_together(rows: Sequence[PatternRow]) -> Iterator[tuple[PatternRow, PatternRow]]:
    """Yield every two rows of one pattern whose effective dates overlap, the one that begins first before the other."""
    ordered = sorted(rows, key=lambda row: (row.deployment, row.from_minute))
    for _, group in groupby(ordered, key=lambda row: row.deployment):
        alike = list(group)
        for place, earlier in enumerate(alike):
            for later in alike[place + 1 :]:
                if earlier.to_minute is not None and earlier.to_minute <= later.from_minute:
                    break
                yield earlier, later
                if _is_replaced(earlier, later):
                    break


def _is_replaced(earlier: PatternRow, later: PatternRow) -> bool:
    """Say whether the earlier row says nothing once the later one begins."""
    is_open = earlier.to_minute is None and later.to_minute is None
    return is_open and later.is_unrestricted and earlier.from_minute < later.from_minute


def _ambiguities(rows: Sequence[PatternRow]) -> Iterator[str]:
    """Say which rows of two globs, neither more specific, could be about the same thing."""
    globs: dict[int, dict[str, list[PatternRow]]] = {}
    for row in rows:
        if not is_exact(row.deployment):
            globs.setdefault(n_literals(row.deployment), {}).setdefault(row.deployment, []).append(row)
    for alike in globs.values():
        for one, other in combinations(alike, 2):
            if not can_meet(one, other):
                continue
            clash = next((pair for pair in product(alike[one], alike[other]) if _overlap(*pair)), None)
            if clash is not None:
                yield (
                    f"{clash[0].source} and {clash[1].source}: a deployment can match both {one!r} and {other!r}, and "
                    "neither is more specific: name the deployment, or give one of them more literal characters"
                )


def _overlap(one: PatternRow, other: PatternRow) -> bool:
    return (
        one.meets(other)
        and (one.to_minute is None or other.from_minute < one.to_minute)
        and (other.to_minute is None or one.from_minute < other.to_minute)
    )
