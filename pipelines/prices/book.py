"""The price book: all rows, and which of them a request pays.

Belongs here: looking rows up at an instant and for a length. Does not belong here: reading rows (`file`, `rows`), which
goes before (`precedence`), what was published (`memory`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property

from pipelines.errors import UsageError
from pipelines.prices.globs import is_exact, matches
from pipelines.prices.known import KnownPrices
from pipelines.prices.lists import MINUTES_PER_HOUR, PriceList, Tier, price_list
from pipelines.prices.precedence import END_THE_EARLIER, Wording, precedence, require_consistent
from pipelines.prices.rows import PriceRow, Prices, weekday_of
from pipelines.times import HOURS_PER_DAY

MAX_ROWS = 10_000
WORDING = Wording(
    "the price book",
    "price some requests of",
    f"{END_THE_EARLIER}, or keep them apart by weekdays, hours_utc or lengths",
)


class PriceBook:
    """All price rows; known prices are those of deployments that no row's pattern matches."""

    def __init__(self, rows: Iterable[PriceRow], known: KnownPrices | None = None) -> None:
        """Raise UsageError that names the rows of which neither goes before the other, two by two."""
        self.rows = tuple(rows)
        self._known = known
        self._named: dict[str, list[PriceRow]] = {}
        for row in self.rows:
            self._named.setdefault(row.deployment, []).append(row)
        self._globs = [glob for glob in self._named if not is_exact(glob)]
        self._rows_of: dict[str, tuple[PriceRow, ...]] = {}
        self._lists: dict[tuple[tuple[PriceRow, ...], int], PriceList] = {}
        if len(self.rows) > MAX_ROWS:
            raise UsageError(f"the price book has {len(self.rows):,} rows: more than {MAX_ROWS:,} are refused")
        require_consistent(self.rows, WORDING)

    @cached_property
    def fingerprint(self) -> str:
        """What tells one book from another: its rows, and the version of the known prices."""
        return repr((self.rows, self._known and self._known.version))

    def rows_of(self, deployment: str) -> tuple[PriceRow, ...]:
        """Return the rows that can price a deployment, the ones that go before first."""
        if deployment not in self._rows_of:
            patterns = {deployment, *(glob for glob in self._globs if matches(glob, deployment))}
            found = [row for pattern in patterns for row in self._named.get(pattern, ())]
            if not found and self._known is not None:
                found = list(self._known.rows_of(deployment))
            self._rows_of[deployment] = tuple(sorted(found, key=lambda row: precedence(row, deployment)))
        return self._rows_of[deployment]

    def price_list(self, deployment: str, hour_index: int) -> PriceList:
        """Return the prices of a deployment in an hour."""
        first = hour_index * MINUTES_PER_HOUR
        rows = tuple(row for row in self.rows_of(deployment) if _is_in_force(row, first))
        minutes = _minutes_of_change(rows, first)
        # A date of change within the hour makes it one of its kind; all others repeat by time of day.
        repeats = not any(first < end < first + MINUTES_PER_HOUR for row in rows for end in _ends(row))
        key = (rows, hour_index % HOURS_PER_DAY)
        if repeats and key in self._lists:
            return self._lists[key]
        found = price_list([(minute, _tiers(rows, first + minute)) for minute in minutes])
        if repeats:
            self._lists[key] = found
        return found


def _is_in_force(row: PriceRow, first_minute: int) -> bool:
    """Say whether the row's dates and weekdays have a part of the hour."""
    return (
        row.from_minute < first_minute + MINUTES_PER_HOUR
        and (row.to_minute is None or first_minute < row.to_minute)
        and weekday_of(first_minute) in row.weekdays
    )


def _ends(row: PriceRow) -> tuple[int, ...]:
    return (row.from_minute,) if row.to_minute is None else (row.from_minute, row.to_minute)


def _minutes_of_change(rows: Sequence[PriceRow], first_minute: int) -> list[int]:
    """Return the minutes of the hour from which on prices may be others, 0 first."""
    start_of_day = first_minute - first_minute % (HOURS_PER_DAY * MINUTES_PER_HOUR)
    ends = [end for row in rows for end in _ends(row)]
    ends += [start_of_day + end for row in rows for band in row.bands for end in band]
    return sorted({0, *(end - first_minute for end in ends if 0 < end - first_minute < MINUTES_PER_HOUR)})


def _tiers(rows: Sequence[PriceRow], minute: int) -> list[Tier]:
    holding = [row for row in rows if row.holds_at(minute)]
    lengths = {0, *(row.input_tokens_from for row in holding)}
    lengths |= {row.input_tokens_to for row in holding if row.input_tokens_to is not None}
    tiers = []
    for length in sorted(lengths):
        row = next((row for row in holding if row.prices_length(length)), None)
        prices: Prices | None = row.prices if row else None
        tiers.append(Tier(length, prices, row.source if row else ""))
    return tiers
