"""Processes of this machine, as /proc shows them.

Belongs here: whether a process is there, since when, and what it was called with. Does not belong here: what follows.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

_SLACK = timedelta(seconds=2)
"""The kernel's boot time and clock ticks place a start within about a second."""


@dataclass(frozen=True, slots=True)
class Process:
    """A running process."""

    pid: int
    started_at: datetime
    command: str
    """Its command line, arguments separated by blanks."""


def process(pid: int, proc: Path) -> Process | None:
    """Return the process; None where it is gone, ended but not yet waited for, or of another machine or container."""
    try:
        after_name = (proc / str(pid) / "stat").read_text(errors="replace").rpartition(")")[2].split()
        words = (proc / str(pid) / "cmdline").read_bytes().rstrip(b"\0").split(b"\0")
        state, ticks = after_name[0], int(after_name[19])
        booted = _booted_at(proc)
    except (OSError, ValueError, IndexError):
        return None
    if state in "ZX":
        return None
    started = booted + timedelta(seconds=ticks / os.sysconf("SC_CLK_TCK"))
    return Process(pid, started, b" ".join(words).decode("utf-8", "backslashreplace"))


def owner(pid: int, since: datetime, proc: Path) -> Process | None:
    """Return the process that did something at `since`; None where it is gone, even if another one has its number."""
    found = process(pid, proc)
    return found if found is not None and found.started_at <= since + _SLACK else None


def _booted_at(proc: Path) -> datetime:
    for line in (proc / "stat").read_text().splitlines():
        name, _, value = line.partition(" ")
        if name == "btime":
            return datetime.fromtimestamp(int(value), UTC)
    raise ValueError(f"{proc / 'stat'} does not tell when the machine started")
