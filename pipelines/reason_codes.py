"""Reason codes as one column keeps several: joined by commas, in their order, '' for none.

Belongs here: that form. Does not belong here: what a code means (`words`).
"""

from collections.abc import Iterable


def joined(codes: Iterable[str]) -> str:
    """Return the codes as the column keeps them, each once."""
    return ",".join(dict.fromkeys(codes))


def listed(column: str) -> tuple[str, ...]:
    """Return the codes of a column."""
    return tuple(filter(None, column.split(",")))
