"""Telling where a typed statement ends.

Belongs here: semicolons that are none, in texts, names and comments. Does not belong here: what a statement means (the
engine).
"""

from __future__ import annotations

import re

WORDS = frozenset({"help", "quit", "exit"})
"""What other shells know without a dot; no statement is one word."""
_QUOTED = re.compile(
    r"""'(?:[^']|'')*(?:'|\Z(?P<text>))   # a text; the group is there where it has no end yet
      | "(?:[^"]|"")*(?:"|\Z(?P<name>))
      | \$\$.*?(?:\$\$|\Z(?P<dollars>))
      | /\*.*?(?:\*/|\Z(?P<comment>))
      | --[^\n]*
    """,
    re.VERBOSE | re.DOTALL,
)


def is_finished(typed: str) -> bool:
    """Say whether Enter sends it: nothing, a command, or statements whose last one ends in a semicolon."""
    typed = typed.strip()
    if not typed or typed.startswith(".") or typed.lower() in WORDS:
        return True
    is_open = any(set(match.groupdict().values()) != {None} for match in _QUOTED.finditer(typed))
    return not is_open and _QUOTED.sub(" ", typed).rstrip().endswith(";")
