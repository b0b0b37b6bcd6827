"""Patterns for names, the same for folders and for object stores: `*` within a name, `**` over folders.

Belongs here: what a pattern means. Does not belong here: what there is to match (`inbox`, `objects`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fnmatch import fnmatchcase

from pipelines.errors import UsageError

WILDCARDS = frozenset("*?[")


def refuse_joined_stars(pattern: str) -> None:
    """Raise UsageError where `**` is a part of a name: it would look as if it spanned folders there."""
    if any("**" in part and part != "**" for part in pattern.split("/")):
        raise UsageError(f"the path {pattern!r}: `**` spans folders and stands alone between slashes; use `*` in names")


def matches(pattern: Sequence[str], names: Sequence[str]) -> bool:
    """Say whether a file's folders and name match; as long as the two are, whatever they hold."""
    reached = _after_spans(pattern, {0})
    for name in names:
        ahead = set()
        for place in reached - {len(pattern)}:
            if pattern[place] == "**":
                ahead.add(place)
            elif fnmatchcase(name, pattern[place]):
                ahead.add(place + 1)
        reached = _after_spans(pattern, ahead)
    return len(pattern) in reached


def _after_spans(pattern: Sequence[str], places: set[int]) -> set[int]:
    """Add the places behind each `**`, which may span no folder at all; the name itself it never stands for."""
    found = set(places)
    for place in range(len(pattern) - 1):
        if place in found and pattern[place] == "**":
            found.add(place + 1)
    return found
