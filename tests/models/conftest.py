"""Where recorded logs are: the repository's fixtures, else the shared folder beside it, else a skip by name."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
SHARED = Path(os.environ.get("VALLEYWATCH_SHARED", REPO / "../shared")) / "data"


@pytest.fixture
def llama_log() -> Callable[[str], list[dict]]:
    """Rows with status 200 of a log measured on a real llama.cpp server."""

    def read(name: str) -> list[dict]:
        for folder in (REPO / "fixtures/logs/llama_server", SHARED / "llama_server"):
            if (folder / name).exists():
                rows = map(json.loads, (folder / name).read_text().splitlines())
                return [row for row in rows if row["status"] == 200]
        pytest.skip(f"no llama_server/{name} in fixtures/logs or the shared folder")

    return read


@pytest.fixture
def fleet() -> Path:
    """The simulated fleet day with known truth."""
    if not (SHARED / "heldin_fleet/truth.json").exists():
        pytest.skip("no heldin_fleet in the shared folder")
    return SHARED / "heldin_fleet"
