"""One row of the price book: its keys, and what they mean in minutes, days of the week and lengths.

Belongs here: the keys' bounds, the words of `hours_utc` and `weekdays`, and whether two rows can price one request.
Does not belong here: which of several rows holds (`book`), files (`file`).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, field_validator, model_validator

from pipelines.section import NonEmpty, Section
from pipelines.times import EPOCH

MINUTES_PER_DAY = 1440
DAY_NAMES = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
EVERY_DAY = frozenset(range(len(DAY_NAMES)))
ALL_DAY = ((0, MINUTES_PER_DAY),)
Price = Annotated[float, Field(ge=0, le=1e6, allow_inf_nan=False)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]
Tokens = Annotated[int, Field(ge=0, le=10**9)]


def read_weekdays(words: str) -> frozenset[int]:
    """Return the days (0 is Monday) of words such as "mon-fri" or "sat,sun"; raise ValueError on others."""
    found: set[int] = set()
    for word in words.split(","):
        ends = word.strip().split("-")
        if len(ends) > 2 or not set(ends) <= set(DAY_NAMES):
            raise ValueError(f"must be days such as mon-fri or sat,sun, of {', '.join(DAY_NAMES)}")
        first, last = DAY_NAMES.index(ends[0]), DAY_NAMES.index(ends[-1])
        found |= {day % 7 for day in range(first, last + 1 if last >= first else last + 8)}
    return frozenset(found)


def read_hours(words: str) -> tuple[tuple[int, int], ...]:
    """Return the minutes of the day [from, to) of words such as "16:30-00:30" or "01:00-04:00,06:00-10:00", sorted.

    Bands that go on after midnight are cut there; bands that meet are one. Raises ValueError on other words.
    """
    pieces: list[tuple[int, int]] = []
    for word in words.split(","):
        match = re.fullmatch(r"(\d\d):(\d\d)-(\d\d):(\d\d)", word.strip(), re.ASCII)
        clock = [int(part) for part in match.groups()] if match else []
        if not clock or max(clock[1::2]) > 59:
            raise ValueError("must be UTC hours such as 16:30-00:30, several with commas between them")
        start, end = clock[0] * 60 + clock[1], clock[2] * 60 + clock[3]
        if start >= MINUTES_PER_DAY or end > MINUTES_PER_DAY or start == end:
            raise ValueError("must begin at 00:00 to 23:59 and end at another time, 24:00 at most")
        pieces += [(start, end)] if start < end else [(start, MINUTES_PER_DAY), (0, end)]
    merged: list[tuple[int, int]] = []
    for start, end in sorted(piece for piece in pieces if piece[0] < piece[1]):
        if merged and start <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(end, merged[-1][1]))
        else:
            merged.append((start, end))
    return tuple(merged)


def _instant(value: Any) -> Any:
    """Return a date or a time with an offset as UTC; only whole minutes, the grain of the book."""
    if isinstance(value, datetime):
        if value.tzinfo is None or value.second or value.microsecond:
            raise ValueError("must be a whole minute with its offset, such as 2026-08-16T16:00:00Z")
        return value.astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    raise ValueError("must be a UTC date such as 2026-01-01 or a time such as 2026-08-16T16:00:00Z, without quotes")


Instant = Annotated[datetime, BeforeValidator(_instant)]


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost; None where a price is not given."""

    input_per_mtok: float
    cached_per_mtok: float
    cache_write_per_mtok: float | None
    output_per_mtok: float | None
    currency: str


class PriceSettings(Section):
    """Prices per million tokens of the deployments that match a glob, and when and for which lengths they hold."""

    deployment: NonEmpty
    effective_from: Instant
    """A UTC date or time."""
    effective_to: Instant | None = None
    """Where the row no longer holds; without it, it holds until a later row of the same glob takes over."""
    weekdays: str | None = None
    """Days of the request's own UTC date, such as "mon-fri"."""
    hours_utc: str | None = None
    """UTC times of day, such as "16:30-00:30": from inclusive, to exclusive."""
    input_tokens_from: Tokens = 0
    input_tokens_to: Tokens | None = None
    """First length, in input tokens, that the row no longer prices."""
    input_per_mtok: Annotated[Price, Field(gt=0)]
    cached_per_mtok: Price
    output_per_mtok: Price | None = None
    cache_write_per_mtok: Price | None = None
    currency: Currency = "USD"

    @field_validator("weekdays")
    @classmethod
    def _days_of_the_week(cls, words: str | None) -> str | None:
        if words is not None:
            read_weekdays(words)
        return words

    @field_validator("hours_utc")
    @classmethod
    def _times_of_day(cls, words: str | None) -> str | None:
        if words is not None:
            read_hours(words)
        return words

    @model_validator(mode="after")
    def _consistent(self) -> PriceSettings:
        if self.cached_per_mtok > self.input_per_mtok:
            raise ValueError(
                f"cached_per_mtok {self.cached_per_mtok} exceeds input_per_mtok {self.input_per_mtok}: "
                "a cached token is sold at a discount; swap the two"
            )
        if self.effective_to is not None and self.effective_to <= self.effective_from:
            raise ValueError(
                f"effective_to {self.effective_to:%Y-%m-%d %H:%M} is not after "
                f"effective_from {self.effective_from:%Y-%m-%d %H:%M}"
            )
        if self.input_tokens_to is not None and self.input_tokens_to <= self.input_tokens_from:
            raise ValueError(
                f"input_tokens_to {self.input_tokens_to} is not above input_tokens_from {self.input_tokens_from}"
            )
        return self

    def row(self, source: str) -> PriceRow:
        """Return what the keys mean; `source` says where they are written."""
        return PriceRow(
            deployment=self.deployment,
            from_minute=to_minute(self.effective_from),
            to_minute=None if self.effective_to is None else to_minute(self.effective_to),
            weekdays=EVERY_DAY if self.weekdays is None else read_weekdays(self.weekdays),
            bands=ALL_DAY if self.hours_utc is None else read_hours(self.hours_utc),
            input_tokens_from=self.input_tokens_from,
            input_tokens_to=self.input_tokens_to,
            prices=Prices(
                self.input_per_mtok,
                self.cached_per_mtok,
                self.cache_write_per_mtok,
                self.output_per_mtok,
                self.currency,
            ),
            source=source,
        )


@dataclass(frozen=True, slots=True)
class PriceRow:
    """A row as the book looks it up. Minutes since 1970-01-01T00Z; bands in minutes of the day; all ends exclusive."""

    deployment: str
    from_minute: int
    to_minute: int | None
    weekdays: frozenset[int]
    bands: tuple[tuple[int, int], ...]
    input_tokens_from: int
    input_tokens_to: int | None
    prices: Prices
    source: str

    def holds_at(self, minute: int) -> bool:
        """Say whether the row holds in this minute, for some length."""
        return (
            self.from_minute <= minute
            and (self.to_minute is None or minute < self.to_minute)
            and weekday_of(minute) in self.weekdays
            and any(start <= minute % MINUTES_PER_DAY < end for start, end in self.bands)
        )

    def prices_length(self, input_tokens: int) -> bool:
        """Say whether the row prices requests of this length."""
        return self.input_tokens_from <= input_tokens and (
            self.input_tokens_to is None or input_tokens < self.input_tokens_to
        )

    @property
    def currency(self) -> str:
        """The currency of its prices."""
        return self.prices.currency

    @property
    def is_unrestricted(self) -> bool:
        """Say whether the row prices every request while it is in force."""
        whole = self.weekdays == EVERY_DAY and self.bands == ALL_DAY
        return whole and self.input_tokens_from == 0 and self.input_tokens_to is None

    def meets(self, other: PriceRow) -> bool:
        """Say whether some instant and length is both rows', whatever their deployments and effective dates."""
        return (
            bool(self.weekdays & other.weekdays)
            and any(a < d and c < b for a, b in self.bands for c, d in other.bands)
            and (other.input_tokens_to is None or self.input_tokens_from < other.input_tokens_to)
            and (self.input_tokens_to is None or other.input_tokens_from < self.input_tokens_to)
        )

    @property
    def hours_text(self) -> str | None:
        """The bands in words that `read_hours` takes; None for the whole day."""
        if self.bands == ALL_DAY:
            return None
        return ",".join(f"{_clock(start)}-{_clock(end)}" for start, end in _over_midnight(self.bands))

    @property
    def weekdays_text(self) -> str | None:
        """The days in words that `read_weekdays` takes; None for all of them."""
        if self.weekdays == EVERY_DAY:
            return None
        days = sorted(self.weekdays)
        starts = [day for day in days if day - 1 not in self.weekdays]
        ends = [day for day in days if day + 1 not in self.weekdays]
        return ",".join(
            DAY_NAMES[first] if first == last else f"{DAY_NAMES[first]}-{DAY_NAMES[last]}"
            for first, last in zip(starts, ends, strict=True)
        )


def to_minute(instant: datetime) -> int:
    """Return whole minutes since 1970-01-01T00Z."""
    return (instant - EPOCH) // timedelta(minutes=1)


def weekday_of(minute: int) -> int:
    """Return the day of the week of the minute's UTC date, 0 for Monday; 1970-01-01 was a Thursday."""
    return (minute // MINUTES_PER_DAY + 3) % 7


def _over_midnight(bands: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
    """Join the band that ends at midnight to the one that begins there."""
    if len(bands) > 1 and bands[0][0] == 0 and bands[-1][1] == MINUTES_PER_DAY:
        return (*bands[1:-1], (bands[-1][0], bands[0][1]))
    return bands


def _clock(minute: int) -> str:
    return f"{minute // 60:02d}:{minute % 60:02d}"
