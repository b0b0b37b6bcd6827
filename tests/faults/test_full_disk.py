"""A disk that is really full, a small tmpfs: what was committed stays, and the same call works when there is space."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.errors import DiskFullError
from pipelines.warehouse import Warehouse
from tests.place import PRICE, SOURCE, Place, request

pytestmark = [
    pytest.mark.jobs,
    pytest.mark.skipif(os.geteuid() != 0, reason="notyet: mounting a tmpfs takes root"),
]


@pytest.fixture(autouse=True)
def no_reserve(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin whatever is free: what is asked here is how a disk that fills up on the way is met."""
    monkeypatch.setattr(Warehouse, "require_space", lambda _self, _n_bytes=0: None)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Place]:
    """A place whose warehouse is on a disk of its own, of 24 MiB."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", str(disk)], capture_output=True, text=True, timeout=10
    )
    if mounted.returncode:
        pytest.skip(f"notyet: no tmpfs can be mounted here ({mounted.stderr.strip()})")
    try:
        yield Place(tmp_path / "place", f'[warehouse]\npath = "{disk}/warehouse"\n{SOURCE}{PRICE}')
    finally:
        subprocess.run(["umount", str(disk)], check=True, timeout=10)


def fill(place: Place, *, but: int) -> Path:
    """Write a file that leaves `but` bytes of the disk free."""
    disk = place.warehouse.folder.parent
    ballast = disk / "ballast"
    seen = os.statvfs(disk)
    with ballast.open("wb") as file:
        os.posix_fallocate(file.fileno(), 0, max(seen.f_bavail * seen.f_frsize - but, 1))
    return ballast


def more_rows(first: int) -> list[dict[str, object]]:
    return [
        request(first + n, session_id=os.urandom(16).hex(), timestamp=f"2026-11-28T{n % 24:02}:15:00Z")
        for n in range(20_000)
    ]


@pytest.mark.parametrize("free", [0, 100_000, 200_000])
def test_an_ingest_that_finds_the_disk_full_says_so_and_is_done_once_there_is_space(
    small: Place, free: int, capsys: pytest.CaptureFixture[str]
) -> None:
    small.write("a.jsonl", [request(n) for n in range(10)])
    assert small.valleywatch("ingest") == 0
    small.write("b.jsonl", more_rows(10))
    ballast = fill(small, but=free)
    capsys.readouterr()
    assert small.valleywatch("ingest") == 75
    said = capsys.readouterr().err
    assert "no space is left for" in said
    assert "free some and run again" in said
    ballast.unlink()
    with small.warehouse.writer() as writer:
        writer.publish()
    assert small.rows("select count(*) as n from requests") == [{"n": 10}]
    assert small.valleywatch("ingest") == 0
    with small.warehouse.writer() as writer:
        writer.publish()
    counted = "select count(*) as n, count(distinct request_id) as ids from requests"
    assert small.rows(counted) == [{"n": 20_010, "ids": 20_010}]


@pytest.mark.parametrize("free", [0, 300_000])
def test_a_publication_that_finds_the_disk_full_leaves_the_last_one_readable(small: Place, free: int) -> None:
    small.write("a.jsonl", [request(n) for n in range(10)])
    small.settle()
    before, published = small.views(), small.warehouse.snapshot.readlink()
    ballast = fill(small, but=free)
    with pytest.raises(DiskFullError, match="free some and run again") as raised, small.warehouse.writer() as writer:
        writer.publish()
    assert raised.value.exit_code == 75
    assert (small.views(), small.warehouse.snapshot.readlink()) == (before, published)
    ballast.unlink()
    with small.warehouse.writer() as writer:
        writer.publish()
    assert small.views() == before
    assert small.warehouse.snapshot.readlink() != published
