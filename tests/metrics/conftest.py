"""What the tests of metrics share: promtool, and a small place whose snapshot has something to tell."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

Promtool = Callable[..., str]


@pytest.fixture(scope="session")
def promtool() -> Promtool:
    """Run Debian's promtool on stdin; return what it says, or fail with that where it complains."""
    tool = shutil.which("promtool")
    if tool is None:
        pytest.skip("promtool is not installed: apt-get install prometheus")

    def run(*arguments: str | Path, given: bytes = b"") -> str:
        done = subprocess.run([tool, *map(str, arguments)], input=given, capture_output=True, timeout=60, check=False)
        said = (done.stdout + done.stderr).decode()
        assert done.returncode == 0, said
        return said

    return run
