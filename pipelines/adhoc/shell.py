"""The interactive shell: statements that end in a semicolon, and commands that begin with a dot.

Belongs here: the loop, what each dot command prints, that an error or ^C ends a statement and not the shell.
Does not belong here: reading keys (`editor`), the form of answers (`forms`).
"""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pipelines.adhoc import cookbook
from pipelines.adhoc.catalogue import Catalogue
from pipelines.adhoc.completion import DOT_COMMANDS
from pipelines.adhoc.forms import write_words
from pipelines.commands.output import tell
from pipelines.errors import UsageError
from pipelines.section import nearest
from pipelines.stopping import forgiven

GREETING = "statements end with a semicolon; .help says what there is, .quit or Ctrl-D leaves, ^C stops a query"
STOPPED = "stopped"


class Shell:
    """See the module's docstring. read: gives the next statement. answer: asks one and prints its answer."""

    def __init__(
        self, known: Catalogue, read: Callable[[], str], answer: Callable[[str, Mapping[str, Any] | None], None]
    ) -> None:
        self._known = known
        self._read = read
        self._answer = answer
        self._commands: dict[str, Callable[[Sequence[str]], None]] = {
            ".help": self._help,
            ".views": self._views,
            ".columns": self._columns,
            ".cookbook": self._cookbook,
        }

    def run(self) -> None:
        """Answer until the person leaves; raise Stopped where the process is asked to end."""
        tell(GREETING)
        while True:
            try:
                typed = self._read()
            except EOFError:
                return
            except KeyboardInterrupt:
                forgiven()
                continue
            if typed.rstrip(";").lower() in (".quit", ".exit", "quit", "exit"):
                return
            try:
                self._do(typed)
            except KeyboardInterrupt:
                forgiven()
                tell(STOPPED)
            except UsageError as error:
                tell(STOPPED if forgiven() else str(error))

    def _do(self, typed: str) -> None:
        if typed.rstrip(";").lower() == "help":
            self._help(())
        elif typed.startswith("."):
            self._command(typed.rstrip(";"))
        elif typed.strip(";\n\t "):
            self._answer(typed, None)

    def _command(self, typed: str) -> None:
        try:
            name, *arguments = shlex.split(typed)
        except ValueError as error:
            raise UsageError(f"{typed}: {error}") from None
        if name not in self._commands:
            raise UsageError(f"no command {name}{nearest(name, DOT_COMMANDS)}; there are {', '.join(DOT_COMMANDS)}")
        self._commands[name](arguments)

    def _help(self, _arguments: Sequence[str]) -> None:
        write_words(("command", "does"), list(DOT_COMMANDS.items()))
        print()
        self._views(())
        print(f"\nmacros: {', '.join(self._known.macros.values())}")

    def _views(self, _arguments: Sequence[str]) -> None:
        write_words(
            ("view", "a row is", "about"),
            [(view.name, view.grain, view.about) for view in self._known.views.values()],
        )

    def _columns(self, arguments: Sequence[str]) -> None:
        if len(arguments) != 1:
            raise UsageError(f".columns takes one view: {', '.join(self._known.views)}")
        view = self._known.view(arguments[0])
        print(f"{view.name}: {view.about}; a row is {view.grain}")
        write_words(("column", "type", "is"), [(column.name, column.type, column.comment) for column in view.columns])

    def _cookbook(self, arguments: Sequence[str]) -> None:
        if not arguments:
            write_words(*cookbook.table())
            return
        entry = cookbook.question(arguments[0])
        tell(entry.question)
        self._answer(entry.text, entry.bound(arguments[1:]))
