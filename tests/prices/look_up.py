"""The part of an hour's price list that a request falls into."""

from __future__ import annotations

from pipelines.prices.book import PriceBook
from pipelines.prices.lists import Part


def part_at(book: PriceBook, deployment: str, minute: int, input_tokens: int) -> Part | None:
    """The price of a request of this length and minute (since 1970) of arrival; None: unpriced."""
    found = [
        part
        for part in book.price_list(deployment, minute // 60).parts
        if part.from_minute <= minute % 60 < part.to_minute
        and part.input_tokens_from <= input_tokens
        and (part.input_tokens_to is None or input_tokens < part.input_tokens_to)
    ]
    assert len(found) <= 1
    return found[0] if found else None
