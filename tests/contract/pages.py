"""Pages whose commands are executed: what a page says is typed is typed, and what it shows is what comes out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import pytest


@dataclass(frozen=True)
class Step:
    """One command of a page and the output shown below it."""

    page: Path
    command: str
    shown: str

    def require(self, printed: str, config: pytest.Config) -> None:
        """Fail where something else is printed; with --update-golden, write it into the page instead."""
        if config.getoption("--update-golden") and printed != self.shown:
            typed = f"$ {self.command}\n"
            self.page.write_text(self.page.read_text().replace(typed + self.shown, typed + printed))
            return
        assert printed == self.shown


def steps(page: Path) -> list[Step]:
    """Every command typed on a page, in its order."""
    sessions = re.findall(r"```console\n(.*?)```", page.read_text(), re.DOTALL)
    typed = [step for session in sessions for step in re.split(r"^\$ ", session, flags=re.MULTILINE)[1:]]
    return [Step(page, *step.partition("\n")[::2]) for step in typed]
