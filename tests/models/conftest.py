"""Where recorded logs are: the repository's fixtures, else the shared folder beside it, else a skip by name."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.shared_data import SHARED, shared


@pytest.fixture
def llama_log() -> Callable[[str], list[dict]]:
    """Rows with status 200 of a log measured on a real llama.cpp server."""

    def read(name: str) -> list[dict]:
        for folder in (REPO / "fixtures/logs/llama_server", SHARED / "data/llama_server"):
            if (folder / name).exists():
                rows = map(json.loads, (folder / name).read_text().splitlines())
                return [row for row in rows if row["status"] == 200]
        pytest.skip(f"no llama_server/{name} in fixtures/logs or the shared folder")

    return read


@pytest.fixture
def fleet() -> Path:
    """The simulated fleet day with known truth."""
    return shared("data/heldin_fleet")
