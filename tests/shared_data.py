"""Public data that is too large or not ours to keep here: in `../shared`, or where $VALLEYWATCH_SHARED says."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.conftest import REPO

SHARED = Path(os.environ.get("VALLEYWATCH_SHARED", REPO.parent / "shared"))


def shared(name: str) -> Path:
    """Return a file or folder of it; the test skips by that name where it is not there."""
    path = SHARED / name
    if not path.exists():
        pytest.skip(f"{name} is not in the shared folder; $VALLEYWATCH_SHARED may name another")
    return path
