"""What the shell offers after Tab: views, columns, macros, keywords; dot commands and what they take.

Belongs here: which names fit where the cursor is. Does not belong here: drawing them (`editor`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from pipelines.adhoc import cookbook
from pipelines.adhoc.catalogue import Catalogue

DOT_COMMANDS = {
    ".help": "what can be typed, and the views",
    ".views": "the views, with what a row is",
    ".columns": "the columns of a view: .columns VIEW",
    ".cookbook": "questions that are written already: .cookbook [NAME [PARAMETER=VALUE …]]",
    ".quit": "leave; Ctrl-D does too",
}
_AFTER_RELATION = re.compile(r"\b(from|join|describe|summarize)\s+\w*$", re.IGNORECASE)


def candidates(before: str, whole: str, known: Catalogue) -> Iterator[tuple[str, str]]:
    """Return what may stand where `before` ends, with a word on what it is; `whole` is all that is typed.

    A name's columns come first where the statement names their view; after `from` and `join` there are views alone.
    """
    word = re.search(r"[\w.]*$", before.lstrip())
    start = word[0].lower() if word else ""
    for name, what in _offered(before, whole, known):
        if name.lower().startswith(start.rpartition(".")[2] if not name.startswith(".") else start):
            yield name, what


def _offered(before: str, whole: str, known: Catalogue) -> Iterator[tuple[str, str]]:
    line = before.lstrip()
    if line.startswith("."):
        command, is_given, _ = line.partition(" ")
        if not is_given:
            yield from DOT_COMMANDS.items()
        elif command == ".columns":
            yield from ((view.name, view.grain) for view in known.views.values())
        elif command == ".cookbook":
            yield from ((name, entry.question) for name, entry in cookbook.questions().items())
        return
    views = [(view.name, view.grain) for view in known.views.values()]
    if _AFTER_RELATION.search(before):
        yield from views
        return
    words = set(re.findall(r"\w+", whole.lower()))
    named = [view for view in known.views.values() if view.name in words]
    columns: dict[str, str] = {}
    for view in named or known.views.values():
        for column in view.columns:
            columns.setdefault(column.name, f"{column.type}, {view.name}")
    yield from columns.items()
    if re.search(r"\.\w*$", before):
        return
    yield from views
    yield from known.macros.items()
    yield from ((word, "") for word in known.keywords)
