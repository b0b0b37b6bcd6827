"""A pseudo-terminal with a command in it: types what a person types, and waits for what they would see.

The standard library's, not pexpect's: that forks a process which has threads, which Python warns of.
"""

from __future__ import annotations

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import TracebackType

from tests.conftest import REPO

LIMIT_S = 30.0
_TAKE = "import fcntl, os, sys, termios; fcntl.ioctl(0, termios.TIOCSCTTY, 0); os.execv(sys.argv[1], sys.argv[1:])"
"""^C reaches the process that the terminal belongs to: it takes it before it becomes the command."""
_SEQUENCE = re.compile(r"\x1b(\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(\x07|\x1b\\)|[=>()][AB0]?)")


class Terminal:
    """`valleywatch ARGUMENTS` in a terminal of that size; the process is gone when the block ends."""

    def __init__(
        self, arguments: Sequence[str], environment: Mapping[str, str] = {}, *, n_columns: int = 100, n_rows: int = 50
    ) -> None:
        self._end, inside = pty.openpty()
        fcntl.ioctl(inside, termios.TIOCSWINSZ, struct.pack("HHHH", n_rows, n_columns, 0, 0))
        variables = {
            **os.environ,
            "PYTHONPATH": str(REPO),
            "TERM": "xterm-256color",
            "PROMPT_TOOLKIT_NO_CPR": "1",  # nobody here would answer where the cursor is
            **environment,
        }
        for name in ("COLUMNS", "LINES", "NO_COLOR"):
            variables.pop(name, None)
        self.process = subprocess.Popen(
            [sys.executable, "-I", "-S", "-c", _TAKE, sys.executable, "-P", "-m", "pipelines", *arguments],
            stdin=inside,
            stdout=inside,
            stderr=inside,
            env=variables,
            start_new_session=True,
        )
        self._inside = inside
        self._raw = b""
        self.seen = ""
        self._read = 0

    def __enter__(self) -> Terminal:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(LIMIT_S)
        os.close(self._inside)
        os.close(self._end)

    def type(self, keys: str) -> None:
        """Press these keys."""
        os.write(self._end, keys.encode())

    def wait_for(self, words: str) -> str:
        """Return what is shown up to `words`, since the last time; fail when they do not come."""
        deadline = time.monotonic() + LIMIT_S
        while (at := self.seen.find(words, self._read)) < 0:
            if not self._more(deadline - time.monotonic()):
                raise AssertionError(f"{words!r} is not shown; since the last words: {self.seen[self._read :]!r}")
        shown = self.seen[self._read : at + len(words)]
        self._read = at + len(words)
        return shown

    def wait_until_busy(self, seconds: float = 0.3) -> None:
        """Wait until the process has computed for so long since now; fail when it does not."""
        deadline, before = time.monotonic() + LIMIT_S, self._computed_s()
        while self._computed_s() < before + seconds:
            if time.monotonic() > deadline:
                raise AssertionError(f"the process does nothing; it showed {self.seen[self._read :]!r}")
            self._more(0.02)

    def end(self) -> tuple[int, str]:
        """Wait for the process to end; return its exit code and what was shown since the last words."""
        deadline = time.monotonic() + LIMIT_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self._more(0.05)
        while self._more(0.0):
            pass
        return self.process.wait(0), self.seen[self._read :]

    def local_modes(self) -> int:
        """Return the local modes of the terminal, as termios numbers them."""
        return int(termios.tcgetattr(self._inside)[3])

    def _computed_s(self) -> float:
        fields = Path(f"/proc/{self.process.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _more(self, wait_s: float) -> bool:
        """Read what has been written; False at its end, or after the wait."""
        ready, _, _ = select.select([self._end], [], [], max(0.0, wait_s))
        if not ready:
            return False
        # What is cut in the middle of a character or a sequence is put together before it is read.
        self._raw += os.read(self._end, 65536)
        self.seen = _SEQUENCE.sub("", self._raw.decode(errors="ignore")).replace("\r", "")
        return True
