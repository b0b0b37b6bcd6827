"""Messages as they are sent, kept as files that docs/alerts.md shows."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

FOLDER = Path(__file__).with_name("golden")


def require(name: str, text: str, config: pytest.Config) -> None:
    """Fail where a message differs from its file; with --update-golden, write the file instead."""
    path = FOLDER / name
    if config.getoption("--update-golden"):
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    assert text == path.read_text()


def pretty(message: Any) -> str:
    """Return JSON for people."""
    return json.dumps(message, indent=2, ensure_ascii=False) + "\n"
