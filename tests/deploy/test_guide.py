"""The guide's commands are typed as they stand: backup, restore, upgrade and rollback end where it says."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO, FleetWarehouse
from tests.place import VIEWS, Place, request

PAGE = (REPO / "docs" / "operations.md").read_text()
BLOCKS = dict(re.findall(r"```sh (\w+)\n(.*?)```", PAGE, re.DOTALL))


@pytest.fixture
def path_of_command(tmp_path: Path) -> str:
    """A PATH on which `valleywatch` is the one under test."""
    folder = tmp_path / "bin"
    folder.mkdir()
    command = folder / "valleywatch"
    command.write_text(f'#!/bin/sh\nPYTHONPATH="{REPO}" exec "{sys.executable}" -P -m pipelines "$@"\n')
    command.chmod(0o700)
    return f"{folder}:{os.environ['PATH']}"


def typed(script: str, place: Place, backup: Path, path: str) -> str:
    """Type commands of the page; return what they said."""
    done = subprocess.run(
        ["/bin/sh", "-euc", script], capture_output=True, text=True, timeout=100, check=False,
        env=os.environ | {"PATH": path, "WAREHOUSE": str(place.folder / "warehouse"), "BACKUP": str(backup),
                          "CONFIG": str(place.config)},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout + done.stderr


def status(place: Place, capsys: pytest.CaptureFixture[str]) -> list[dict[str, object]]:
    capsys.readouterr()
    assert place.valleywatch("status", "--json") == 0
    found: list[dict[str, object]] = json.loads(capsys.readouterr().out)
    return found


def test_the_page_has_all_of_them() -> None:
    assert set(BLOCKS) == {"install", "backup", "restore", "upgrade", "rollback"}  # the first: test_container


def test_a_restored_backup_of_the_demo_says_the_same(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, path_of_command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    before = status(fleet_warehouse.place, capsys)
    n_of = {view: fleet_warehouse.place.rows(f"select count(*) as n from {view}") for view in VIEWS}
    backup = tmp_path / "backup"
    typed(BLOCKS["backup"], fleet_warehouse.place, backup, path_of_command)
    restored = Place(tmp_path / "elsewhere", fleet_warehouse.place.config.read_text())
    typed(BLOCKS["restore"], restored, backup, path_of_command)
    assert status(restored, capsys) == before
    assert {view: restored.rows(f"select count(*) as n from {view}") for view in VIEWS} == n_of
    assert len(before) == 5


def test_a_backup_is_whole_although_the_job_publishes_meanwhile(
    place: Place, tmp_path: Path, path_of_command: str
) -> None:
    backup = tmp_path / "backup"
    steps = BLOCKS["backup"].splitlines()
    assert len(steps) == 4
    for number, step in enumerate(steps):
        place.write(f"log-{number}.jsonl", [request(number)])
        place.ingest()
        typed(step, place, backup, path_of_command)
    restored = Place(tmp_path / "elsewhere")
    typed(BLOCKS["restore"], restored, backup, path_of_command)
    # What was published when the third step copied the snapshot.
    assert restored.rows("select request_id from requests order by 1") == [{"request_id": f"r-{n}"} for n in range(3)]
    for log in place.logs.iterdir():
        restored.write(log.name, log.read_bytes())
    restored.ingest()
    assert restored.rows("select count(*) as n from requests") == [{"n": 4}]


def test_a_backup_that_lacks_a_file_is_not_taken_for_whole(place: Place, tmp_path: Path, path_of_command: str) -> None:
    place.write("log.jsonl", [request()])
    place.settle()
    backup = tmp_path / "backup"
    typed(BLOCKS["backup"], place, backup, path_of_command)
    (file,) = (backup / "lake").rglob("*.parquet")
    file.unlink()
    restored = Place(tmp_path / "elsewhere")
    said = typed(BLOCKS["restore"], restored, backup, path_of_command)
    assert f"{file.name} is missing" in said
    assert "empty, without a snapshot" in said


@pytest.mark.slow  # a run of its own in a process of its own
def test_an_older_layout_is_refused_built_anew_and_can_be_put_back(
    place: Place, tmp_path: Path, path_of_command: str, capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    from pipelines.warehouse import engine

    place.write("log.jsonl", [request(n, timestamp=f"2026-11-28T{n % 24:02}:15:00Z") for n in range(50)])
    with monkeypatch.context() as past:
        past.setattr(engine, "SCHEMA_VERSION", 4)
        place.settle()
    assert place.valleywatch("status") == 2
    assert "was written by layout 4, this version reads layout 5" in capsys.readouterr().err
    typed(BLOCKS["upgrade"], place, tmp_path, path_of_command)
    (row,) = status(place, capsys)
    assert (row["deployment"], row["hit_rate"]) == ("pool", 0.4)
    typed(BLOCKS["rollback"], place, tmp_path, path_of_command)
    assert place.valleywatch("status") == 2
    assert "was written by layout 4" in capsys.readouterr().err
    with monkeypatch.context() as past:
        past.setattr(engine, "SCHEMA_VERSION", 4)
        assert status(place, capsys)[0]["hit_rate"] == 0.4


def test_every_file_of_the_guide_is_there_and_every_file_is_in_the_guide() -> None:
    linked = set(re.findall(r"\]\((deploy/[^)]*)\)", PAGE))
    assert all((REPO / "docs" / target).exists() for target in linked)
    for folder in (REPO / "docs" / "deploy").iterdir():
        assert any(target.startswith(f"deploy/{folder.name}/") for target in linked)
    for unit in re.findall(r"`(valleywatch-\w+\.\w+)`", PAGE):
        assert (REPO / "docs" / "deploy" / "systemd" / unit).exists()
