"""What a check found: how bad, where, against which rule, and what to do.

Belongs here: the shape of a finding, its order and the exit code that follows. Does not belong here: any check.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

Level = Literal["bad", "warn", "ok"]
_RANK: dict[Level, int] = {"bad": 0, "warn": 1, "ok": 2}


@dataclass(frozen=True, slots=True)
class Finding:
    """One result of one check.

    code is stable and names the check's result; what is one sentence with the offending value in words; value is that
    value for machines (seconds, bytes, counts, a name), None where there is none; rule says what would be healthy.
    """

    level: Level
    code: str
    what: str
    value: float | int | str | None = None
    rule: str = ""
    remedy: str = ""
    """What to do; empty only where nothing needs to be done."""


def ok(code: str, what: str, value: float | int | str | None = None, *, rule: str = "", remedy: str = "") -> Finding:
    """Return a finding of something that is as it should be; a remedy is a mere suggestion then."""
    return Finding("ok", code, what, value, rule, remedy)


def warn(code: str, what: str, value: float | int | str | None = None, *, rule: str, remedy: str) -> Finding:
    """Return a finding that can wait: results are right and current, or the check cannot be certain."""
    return Finding("warn", code, what, value, rule, remedy)


def bad(code: str, what: str, value: float | int | str | None = None, *, rule: str, remedy: str) -> Finding:
    """Return a finding that needs a person now."""
    return Finding("bad", code, what, value, rule, remedy)


def worst_first(findings: Iterable[Finding]) -> list[Finding]:
    """Return the findings by level, those of one level as they were found."""
    return sorted(findings, key=lambda finding: _RANK[finding.level])


def exit_code(findings: Iterable[Finding]) -> int:
    """Return 1 where a person is needed, else 0: a warning wakes nobody."""
    return 1 if any(finding.level == "bad" for finding in findings) else 0
