"""What the machine may deny: space, permission, a writable mount, a readable disk. Each has a message of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections import namedtuple
from collections.abc import Iterator
from pathlib import Path

import pytest

from pipelines.warehouse.folder import RESERVE_BYTES
from tests.conftest import REPO
from tests.place import PRICE, SOURCE, Place, request

pytestmark = pytest.mark.jobs

Usage = namedtuple("Usage", "total used free")
is_root = os.geteuid() == 0


@pytest.fixture
def filled(place: Place) -> Place:
    place.write("a.jsonl", [request(number) for number in range(10)])
    place.ingest()
    place.write("b.jsonl", [request(number) for number in range(10, 20)])
    return place


def test_nothing_is_begun_on_a_disk_without_the_reserve(
    place: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    place.write("a.jsonl", [request(1)])
    free = RESERVE_BYTES - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(1 << 40, 0, free))
    assert place.valleywatch("ingest") == 75
    said = capsys.readouterr().err
    assert f"has {free:,} bytes free and needs {RESERVE_BYTES:,}" in said
    assert "free some and run again" in said
    assert not (place.warehouse.folder / "warehouse.duckdb").exists()


def test_a_file_larger_than_what_is_free_is_not_begun(
    filled: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    size = (filled.logs / "b.jsonl").stat().st_size
    free = RESERVE_BYTES + size - 1
    monkeypatch.setattr(shutil, "disk_usage", lambda _path: Usage(1 << 40, 0, free))
    assert filled.valleywatch("ingest") == 75
    assert f"needs {RESERVE_BYTES + size:,}" in capsys.readouterr().err
    monkeypatch.undo()
    filled.ingest()
    assert filled.rows("select count(*) as n from requests") == [{"n": 20}]


@pytest.fixture
def read_only(tmp_path: Path) -> Iterator[Path]:
    """A function of the kernel, not of a mode: not even root writes there."""
    if not is_root:
        pytest.skip("notyet: mounting takes root")
    folder = tmp_path / "mounted"
    folder.mkdir()
    done = subprocess.run(["mount", "--bind", folder, folder], capture_output=True, text=True, timeout=10)
    if done.returncode:
        pytest.skip(f"notyet: nothing can be mounted here ({done.stderr.strip()})")
    try:
        yield folder
    finally:
        subprocess.run(["umount", folder], check=True, timeout=10)


def seal(folder: Path) -> None:
    subprocess.run(["mount", "-o", "remount,bind,ro", folder], check=True, timeout=10)


def test_a_warehouse_on_a_read_only_mount_is_said_and_still_read(
    read_only: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = Place(read_only / "place")
    place.write("a.jsonl", [request(1)])
    place.ingest()
    seal(read_only)
    assert place.valleywatch("ingest") == 1
    said = capsys.readouterr().err
    assert f"{place.warehouse.folder}/writer.lock: Read-only file system" in said
    assert "check owner, mode and mount" in said
    assert place.rows("select count(*) as n from requests") == [{"n": 1}]


def test_logs_on_a_read_only_mount_are_read(read_only: Path, tmp_path: Path) -> None:
    place = Place(tmp_path / "place", SOURCE.replace("logs/*", f"{read_only}/*") + PRICE)
    (read_only / "a.jsonl").write_bytes((place.write("spare.jsonl", [request(1)])).read_bytes())
    seal(read_only)
    assert [outcome.n_loaded for outcome in place.ingest()] == [1]


def test_a_warehouse_that_cannot_be_made_on_a_read_only_mount_is_said(
    read_only: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seal(read_only)
    place = Place(tmp_path / "place", f'[warehouse]\npath = "{read_only}/warehouse"\n{SOURCE}{PRICE}')
    assert place.valleywatch("ingest") == 2
    assert "cannot be made: Read-only file system" in capsys.readouterr().err


def as_a_mortal(place: Place, *command: str) -> tuple[int, str]:
    """Type a command as someone whom modes bind: root without the right to pass over them."""
    lesser = ["setpriv", "--bounding-set", "-dac_override,-dac_read_search", "--inh-caps", "-all"] if is_root else []
    done = subprocess.run(
        [*lesser, sys.executable, "-P", "-m", "pipelines", *command, "--config", place.config],
        env=os.environ | {"PYTHONPATH": str(REPO)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert "Traceback" not in done.stderr
    return done.returncode, done.stderr


DENIALS = [
    pytest.param("valleywatch.toml", 0o000, 2, "Permission denied", id="the configuration"),
    pytest.param("logs/b.jsonl", 0o000, 1, "unreadable: Permission denied; check its owner and mode", id="a log"),
    pytest.param("logs", 0o000, 1, "cannot be listed; check its owner and mode", id="the inbox"),
    pytest.param("warehouse", 0o500, 1, "Permission denied", id="the warehouse"),
    pytest.param("warehouse/warehouse.duckdb", 0o400, 1, "cannot be opened", id="the database"),
    pytest.param("warehouse/lake", 0o500, 1, "lake/day=2026-11-28: Permission denied", id="the lake"),
]


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="notyet: there is no setpriv here")
@pytest.mark.parametrize(("name", "mode", "code", "words"), DENIALS)
def test_a_mode_that_denies_is_a_message_and_leaves_nothing_half_done(
    place: Place, name: str, mode: int, code: int, words: str
) -> None:
    place.write("a.jsonl", [request(1, timestamp="2026-11-27T10:00:00Z")])
    place.ingest()
    place.write("b.jsonl", [request(2)])
    closed = place.folder / name
    before = closed.stat().st_mode
    closed.chmod(mode)
    try:
        found, said = as_a_mortal(place, "ingest")
    finally:
        closed.chmod(before)
    assert (found, words in said) == (code, True), said
    place.ingest()
    assert place.rows("select count(*) as n from requests") == [{"n": 2}]


def test_a_disk_that_cannot_be_read_costs_its_file_alone(tmp_path: Path) -> None:
    # Reading a process's memory at address 0 is an input/output error of the kernel's own.
    place = Place(tmp_path, SOURCE + SOURCE.replace("gateway", "bad disk").replace("logs/*", "/proc/self/mem") + PRICE)
    place.write("a.jsonl", [request(1)])
    good, bad = place.ingest()
    assert good.n_loaded == 1
    assert bad.detail == "unreadable: Input/output error at byte 0; check the disk or the share it is on"
    assert place.rows("select reason from quarantine") == [{"reason": "unreadable"}]


class Recorder:
    """The calls that make a file durable, in order, by the names of the files."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.calls: list[tuple[str, str]] = []
        fsync, replace = os.fsync, Path.replace

        def synced(descriptor: int) -> None:
            self.calls.append(("fsync", str(Path(f"/proc/self/fd/{descriptor}").readlink())))
            fsync(descriptor)

        def renamed(source: Path, target: Path) -> Path:
            self.calls.append(("rename", f"{source} {target}"))
            return replace(source, target)

        monkeypatch.setattr(os, "fsync", synced)
        monkeypatch.setattr(Path, "replace", renamed)


def test_what_is_published_is_on_disk_before_its_name_is_and_the_name_before_we_go_on(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    from pipelines.report.folder import FolderAside

    place.write("a.jsonl", [request(1)])
    seen = Recorder(monkeypatch).calls
    place.ingest()
    aside = FolderAside(place.warehouse.folder / "report")
    aside.write("index.html", b"<html>")
    aside.publish()
    folder = place.warehouse.folder
    renames = [index for index, (call, _) in enumerate(seen) if call == "rename"]
    targets = [Path(seen[index][1].split()[1]) for index in renames]
    assert [path.suffix for path in targets] == [".parquet", ".duckdb", ".duckdb", ".html", "", ""]
    for index, target in zip(renames, targets, strict=True):
        source = seen[index][1].split()[0]
        if target.name not in ("valleywatch.duckdb", "report"):  # a link has no content of its own
            assert seen[index - 1] == ("fsync", source)
        assert seen[index + 1] == ("fsync", str(target.parent))
    # The folder of a day that is new is itself a name that must last.
    assert seen.index(("fsync", str(folder / "lake"))) < renames[0]


def test_what_a_killed_writer_left_half_made_is_swept_by_the_next(filled: Place) -> None:
    folder = filled.warehouse.folder
    day = next((folder / "lake").iterdir())
    left = [
        day / "0.tmp",
        folder / "snapshots" / "valleywatch-000009.tmp",
        folder / "tmp" / "spilled",
        folder / "old.tmp",
    ]
    report, young = folder / ".report-old.tmp", folder / ".report-young.tmp"
    for path in [*left, report, young]:
        path.write_bytes(b"half")
    os.utime(report, (0, 0))
    filled.ingest()
    assert [path.name for path in [*left, report, young] if path.exists()] == ["old.tmp", ".report-young.tmp"]
