"""The text file: whole whenever it is read, closed to nobody, written by every run that is told to."""

from __future__ import annotations

import os
import re
import stat
import threading
from pathlib import Path

import pytest

from pipelines.errors import UsageError, ValleywatchError
from pipelines.files import write_whole
from pipelines.heartbeat import beat
from pipelines.metrics.exposition import as_text, read_families
from pipelines.metrics.textfile import publish_metrics
from pipelines.settings import load_settings
from tests.conftest import FleetWarehouse
from tests.place import NOW, Place, request

pytestmark = pytest.mark.jobs


@pytest.fixture
def settled(place: Place) -> Place:
    place.write("log.jsonl", [request(number) for number in range(3)])
    place.settle()
    return place


def test_the_command_writes_what_it_prints(settled: Place, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    folder = settled.folder / "collector"
    folder.mkdir()
    before = os.umask(0o077)
    try:
        assert settled.valleywatch("metrics", "--textfile", str(folder / "valleywatch.prom")) == 0
    finally:
        os.umask(before)
    assert [path.name for path in folder.iterdir()] == ["valleywatch.prom"]
    assert stat.S_IMODE((folder / "valleywatch.prom").stat().st_mode) == 0o644
    capsysbinary.readouterr()
    assert settled.valleywatch("metrics") == 0
    printed = capsysbinary.readouterr().out
    assert (folder / "valleywatch.prom").read_bytes() == printed == as_text(read_families(settled.warehouse))


def test_a_run_with_nothing_new_writes_the_file_that_the_configuration_names(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = fleet_warehouse.copy(tmp_path / "copy")
    place.configure(place.config.read_text() + '\n[metrics]\ntextfile = "valleywatch.prom"\n')
    assert place.valleywatch("run") == 0
    assert f"metrics: {place.folder / 'valleywatch.prom'}" in capsys.readouterr().err
    assert b'valleywatch_hit_rate{deployment="glm-5-h200"}' in (place.folder / "valleywatch.prom").read_bytes()


def test_it_is_written_again_when_something_newer_is_published(settled: Place) -> None:
    settled.configure(settled.config.read_text() + '[metrics]\ntextfile = "valleywatch.prom"\n')
    settings, path, told = load_settings(settled.config), settled.folder / "valleywatch.prom", []
    for _ in range(2):
        publish_metrics(settings, settled.warehouse, told.append)
    assert told == [f"metrics: {path}"]
    settled.write("more.jsonl", [request("later", deployment="other")])
    settled.settle()
    publish_metrics(settings, settled.warehouse, told.append)
    assert b'deployment="other"' in path.read_bytes()
    beat(settled.warehouse, NOW, None)
    publish_metrics(settings, settled.warehouse, told.append)
    (last,) = re.findall(r"^valleywatch_last_success_timestamp_seconds (.*)$", path.read_text(), re.MULTILINE)
    assert float(last) == NOW.timestamp()
    assert len(told) == 3


def test_alerts_that_are_sent_bring_it_up_to_date(settled: Place) -> None:
    settled.configure(settled.config.read_text() + '[metrics]\ntextfile = "valleywatch.prom"\n')
    assert settled.valleywatch("alerts", "send") == 0
    assert b"valleywatch_alerts" in (settled.folder / "valleywatch.prom").read_bytes()


def test_before_anything_is_published_there_is_nothing_to_write(place: Place) -> None:
    place.configure(place.config.read_text() + '[metrics]\ntextfile = "valleywatch.prom"\n')
    publish_metrics(load_settings(place.config), place.warehouse, pytest.fail)
    assert not (place.folder / "valleywatch.prom").exists()


def test_without_the_key_nothing_is_written(settled: Place) -> None:
    before = set(settled.folder.rglob("*"))
    publish_metrics(load_settings(settled.config), settled.warehouse, pytest.fail)
    assert set(settled.folder.rglob("*")) == before


def test_another_ending_is_refused_wherever_it_is_given(settled: Place, capsys: pytest.CaptureFixture[str]) -> None:
    assert settled.valleywatch("metrics", "--textfile", "valleywatch.txt") == 2
    assert "must end in .prom" in capsys.readouterr().err
    settled.configure(settled.config.read_text() + '[metrics]\ntextfile = "valleywatch.txt"\n')
    with pytest.raises(UsageError, match=r"metrics.textfile: must end in .prom.*not 'valleywatch.txt'"):
        load_settings(settled.config)


def test_a_missing_folder_is_said_and_the_results_stand(settled: Place) -> None:
    settled.configure(settled.config.read_text() + '[metrics]\ntextfile = "nowhere/valleywatch.prom"\n')
    with pytest.raises(ValleywatchError, match=r"metrics were not written to .*nowhere") as raised:
        publish_metrics(load_settings(settled.config), settled.warehouse, pytest.fail)
    assert raised.value.exit_code == 1


def test_before_anything_is_published_the_command_says_what_to_do(
    place: Place, capsys: pytest.CaptureFixture[str]
) -> None:
    assert place.valleywatch("metrics") == 2
    assert "nothing is published" in capsys.readouterr().err


def test_a_reader_never_sees_half_a_file(tmp_path: Path) -> None:
    path, versions = tmp_path / "x.prom", [bytes([letter]) * 200_000 for letter in b"abc"]
    write_whole(path, versions[0], 0o644)
    seen: set[bytes] = set()
    is_over = threading.Event()

    def read() -> None:
        while not is_over.is_set():
            seen.add(path.read_bytes())

    reader = threading.Thread(target=read)
    reader.start()
    for _ in range(30):
        for version in versions:
            write_whole(path, version, 0o644)
    is_over.set()
    reader.join()
    assert seen <= set(versions)
    assert list(tmp_path.iterdir()) == [path]


def test_what_stood_there_stands_where_writing_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x.prom"
    write_whole(path, b"old\n", 0o644)

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new\n", 0o644)
    assert path.read_bytes() == b"old\n"
    assert list(tmp_path.iterdir()) == [path]
