"""Globs of deployment names: what they match, which is more specific, whether two can match one name.

Belongs here: pure questions about patterns (`*`, `?`, `[abc]`, `[!abc]`). Does not belong here: prices.
"""

from __future__ import annotations

import re
from fnmatch import fnmatchcase, translate
from functools import cache

_PARTS = re.compile(r"\*+|\?|\[!?\]?[^\]]*\]|.", re.DOTALL)


def matches(glob: str, name: str) -> bool:
    """Say whether the glob is the name, or matches it."""
    return glob == name or fnmatchcase(name, glob)


def is_exact(glob: str) -> bool:
    """Say whether the glob can match but one name."""
    return not any(_is_wild(part) for part in _parts(glob))


def n_literals(glob: str) -> int:
    """Return the characters that are themselves: of two globs the one with more is the more specific."""
    return sum(not _is_wild(part) for part in _parts(glob))


def can_meet(one: str, other: str) -> bool:
    """Say whether some name matches both; two different sets of characters are taken to share one."""
    left, right = _parts(one), _parts(other)
    todo, seen = [(0, 0)], {(0, 0)}
    while todo:
        i, j = todo.pop()
        if i == len(left) or j == len(right):
            if all(_is_star(part) for part in (*left[i:], *right[j:])):
                return True
            continue
        if _is_star(left[i]) or _is_star(right[j]):
            ahead = {(i + 1, j), (i, j + 1)}
        else:
            ahead = {(i + 1, j + 1)} if _share_a_character(left[i], right[j]) else set()
        todo += ahead - seen
        seen |= ahead
    return False


@cache
def _parts(glob: str) -> tuple[str, ...]:
    return tuple(_PARTS.findall(glob))


def _is_star(part: str) -> bool:
    return part.startswith("*")


def _is_wild(part: str) -> bool:
    return _is_star(part) or part == "?" or len(part) > 1


def _share_a_character(one: str, other: str) -> bool:
    if _is_wild(one) and _is_wild(other):
        return True
    if _is_wild(other):
        one, other = other, one
    return re.fullmatch(translate(one), other) is not None if _is_wild(one) else one == other
