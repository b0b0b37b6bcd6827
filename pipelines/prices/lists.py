"""The prices of one deployment in one hour, as a list that says all of them and nothing else.

Belongs here: the list, its canonical form and hash. Equal prices give equal lists however rows are cut, named or dated:
a row that is closed, or followed by another, does not change the lists of the hours it prices.
Does not belong here: finding the rows (`book`).
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import astuple, dataclass, field
from functools import cached_property

from pipelines.prices.rows import Prices

MINUTES_PER_HOUR = 60


@dataclass(frozen=True, slots=True)
class Part:
    """Minutes of the hour and lengths (both from inclusive, to exclusive) of one price; `source` of its row."""

    from_minute: int
    to_minute: int
    input_tokens_from: int
    input_tokens_to: int | None
    prices: Prices
    source: str = field(compare=False)


@dataclass(frozen=True)
class PriceList:
    """An hour's parts by minute and length, never overlapping; minutes and lengths in none of them are unpriced."""

    parts: tuple[Part, ...]

    @cached_property
    def price_hash(self) -> str:
        """SHA-256 of the parts as JSON: what names a result's prices. Numbers are written as Python writes them."""
        text = json.dumps([(*astuple(part)[:4], *astuple(part.prices)) for part in self.parts], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()

    @property
    def single(self) -> Prices | None:
        """The prices, where they are the same for every request of the hour."""
        if len(self.parts) != 1:
            return None
        part = self.parts[0]
        is_whole = (part.from_minute, part.to_minute) == (0, MINUTES_PER_HOUR)
        is_whole = is_whole and (part.input_tokens_from, part.input_tokens_to) == (0, None)
        return part.prices if is_whole else None

    @property
    def currency(self) -> str | None:
        """The currency of all parts; None where there are several, or none."""
        found = {part.prices.currency for part in self.parts}
        return found.pop() if len(found) == 1 else None


@dataclass(frozen=True, slots=True)
class Tier:
    """Prices of lengths from a first one on; None where they are unpriced."""

    input_tokens_from: int
    prices: Prices | None
    source: str = field(compare=False)


def price_list(spans: Sequence[tuple[int, Sequence[Tier]]]) -> PriceList:
    """Return the canonical list of spans of minutes: each the minute it begins at, from 0 on, and its tiers from 0 on.

    Neighbours of the same prices become one.
    """
    merged: list[tuple[int, tuple[Tier, ...]]] = []
    for from_minute, tiers in spans:
        joined = _without_repeats(tiers)
        if not merged or merged[-1][1] != joined:
            merged.append((from_minute, joined))
    ends = [from_minute for from_minute, _ in merged[1:]] + [MINUTES_PER_HOUR]
    return PriceList(
        tuple(
            Part(from_minute, to_minute, tier.input_tokens_from, input_tokens_to, tier.prices, tier.source)
            for (from_minute, tiers), to_minute in zip(merged, ends, strict=True)
            for tier, input_tokens_to in zip(
                tiers, [*(tier.input_tokens_from for tier in tiers[1:]), None], strict=True
            )
            if tier.prices is not None
        )
    )


def _without_repeats(tiers: Sequence[Tier]) -> tuple[Tier, ...]:
    kept: list[Tier] = []
    for tier in tiers:
        if not kept or kept[-1].prices != tier.prices:
            kept.append(tier)
    return tuple(kept)
