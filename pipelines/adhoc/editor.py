"""Where statements are typed: a line editor with history and completion, or plain lines where a terminal has no cursor.

Belongs here: the terminal, keys, the history's file. Does not belong here: what is done with a statement (`shell`).

prompt_toolkit and not the standard library's readline: a statement of several lines is one entry, edited and recalled
whole, candidates are shown with what they are, and a Python built on libedit does the same.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from pipelines.adhoc.catalogue import Catalogue
from pipelines.adhoc.completion import candidates
from pipelines.adhoc.statements import is_finished
from pipelines.commands.output import tell
from pipelines.stopping import lent

if TYPE_CHECKING:
    from prompt_toolkit.completion import Completer
    from prompt_toolkit.history import History

PROMPT = "valleywatch> "
CONTINUED = "         ...> "
HISTORY_VARIABLE = "VALLEYWATCH_SQL_HISTORY"
"""Path of the history; empty: none is kept."""
_TYPED_NAME = re.compile(r"(^\s*\.)?\w*$")


def ask_lines() -> str:
    """Read one statement with `input`; raise EOFError at the end of the input."""
    typed = input(PROMPT)
    while not is_finished(typed):
        typed = f"{typed}\n{input(CONTINUED)}"
    return typed.strip()


def editor(known: Catalogue) -> Callable[[], str]:
    """Return what reads one statement; it raises EOFError at Ctrl-D and KeyboardInterrupt at ^C."""
    if os.environ.get("TERM", "dumb") in ("dumb", "unknown"):
        return ask_lines
    # What follows is needed at a terminal alone and takes a quarter of a second to import.
    from prompt_toolkit import PromptSession
    from prompt_toolkit.application import get_app
    from prompt_toolkit.filters import Condition

    session: PromptSession[str] = PromptSession(
        PROMPT,
        multiline=Condition(lambda: not is_finished(get_app().current_buffer.document.text)),
        prompt_continuation=CONTINUED,
        history=_history(),
        completer=_completer(known),
        complete_while_typing=False,
    )

    def ask() -> str:
        with lent():
            return session.prompt().strip()

    return ask


def history_path() -> Path | None:
    """Return where typed statements are kept: in the user's state folder, elsewhere or nowhere by the variable."""
    if (named := os.environ.get(HISTORY_VARIABLE)) is not None:
        return Path(named) if named else None
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "valleywatch" / "sql_history"


def _history() -> History:
    from prompt_toolkit.history import FileHistory, InMemoryHistory

    path = history_path()
    if path is None:
        return InMemoryHistory()
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600))
        path.chmod(0o600)
    except OSError as error:
        tell(f"note: no history is kept, {path}: {error.strerror}; {HISTORY_VARIABLE} names another file, empty: none")
        return InMemoryHistory()
    return FileHistory(path)


def _completer(known: Catalogue) -> Completer:
    from prompt_toolkit.completion import CompleteEvent, Completer, Completion
    from prompt_toolkit.document import Document

    class Names(Completer):
        def get_completions(
            self,
            document: Document,
            complete_event: CompleteEvent,  # noqa: ARG002
        ) -> Iterable[Completion]:
            before = document.text_before_cursor
            typed = _TYPED_NAME.search(before)
            for name, what in candidates(before, document.text, known):
                yield Completion(name, start_position=-len(typed[0]) if typed else 0, display_meta=what)

    return Names()
