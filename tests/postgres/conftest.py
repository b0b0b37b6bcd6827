"""One server for the tests of a process, a database of its own for each test."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import pytest

from tests.postgres.server import BINARIES, Server, running_server

_NUMBERS = itertools.count(1)


@pytest.fixture(scope="session")
def server() -> Iterator[Server]:
    if BINARIES is None:
        pytest.skip("PostgreSQL is not installed: apt-get install postgresql")
    with running_server() as found:
        yield found


@pytest.fixture
def database(server: Server, monkeypatch: pytest.MonkeyPatch) -> str:
    """An empty database, which the command's variable names."""
    name = f"db{next(_NUMBERS)}"
    server.rows(f"create database {name}")
    monkeypatch.setenv("VALLEYWATCH_POSTGRES_URL", server.url(name))
    return name
