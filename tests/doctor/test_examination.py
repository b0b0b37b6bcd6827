"""The whole examination: health, order, exit codes, and that nothing broken breaks the doctor."""

from __future__ import annotations

import json
import random
import shutil
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from pipelines.commands import doctor
from pipelines.doctor import examination
from pipelines.doctor.case import Case
from pipelines.doctor.finding import Finding, bad, exit_code, ok, warn, worst_first
from pipelines.settings import load_settings
from tests.conftest import FleetWarehouse
from tests.doctor.conftest import LATER, Patient
from tests.place import Place


@pytest.fixture
def at_hand(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the command's clock stand still."""
    monkeypatch.setattr(doctor, "present", lambda: LATER)


def test_a_healthy_warehouse_has_nothing_but_ok(patient: Patient) -> None:
    findings = patient.findings()
    assert [finding for finding in findings if finding.level != "ok"] == []
    assert len({finding.code for finding in findings}) > 25
    assert exit_code(findings) == 0


def test_the_demo_is_healthy(fleet_warehouse: FleetWarehouse, capsys: pytest.CaptureFixture[str]) -> None:
    assert fleet_warehouse.place.valleywatch("doctor") == 0
    printed = capsys.readouterr()
    assert printed.out.startswith("level ")
    assert printed.err.startswith("0 bad, ")


@pytest.mark.usefixtures("at_hand")
def test_the_command_needs_a_person_where_something_is_bad_and_says_so_in_json(
    patient: Patient, capsys: pytest.CaptureFixture[str]
) -> None:
    (patient.warehouse.folder / "last_success.json").unlink()
    assert patient.valleywatch("doctor", "--json") == 1
    found = json.loads(capsys.readouterr().out)
    assert [row["level"] for row in found].count("bad") == 1
    assert (found[0]["level"], found[0]["code"]) == ("bad", "success_never")
    assert all(set(row) == {"level", "code", "what", "value", "rule", "remedy"} for row in found)


@pytest.mark.usefixtures("at_hand")
def test_the_table_has_the_worst_first_and_what_to_do_below_it(
    patient: Patient, capsys: pytest.CaptureFixture[str]
) -> None:
    (patient.warehouse.folder / "last_success.json").unlink()
    (patient.warehouse.folder / "writer.lock").chmod(0o644)
    assert patient.valleywatch("doctor") == 1
    lines = capsys.readouterr().out.splitlines()
    levels = [line.split()[0] for line in lines[2:] if not line.startswith(" ")]
    assert levels == sorted(levels, key=["bad", "warn", "ok"].index)
    assert lines[2].split()[:2] == ["bad", "success_never"]
    assert lines[4].strip().startswith("do: run `valleywatch run`")


def test_a_configuration_that_cannot_be_used_is_told_as_everywhere(
    patient: Patient, capsys: pytest.CaptureFixture[str]
) -> None:
    patient.configure("[warehuose]\n")
    assert patient.valleywatch("doctor") == 2
    assert "did you mean 'warehouse'" in capsys.readouterr().err


def test_warnings_wake_nobody() -> None:
    found = [ok("a", ""), warn("b", "", rule="", remedy=""), bad("c", "", rule="", remedy=""), ok("d", "")]
    assert [finding.code for finding in worst_first(found)] == ["c", "b", "a", "d"]
    assert [exit_code(found), exit_code(found[:2]), exit_code([])] == [1, 0, 0]


def test_every_finding_that_is_not_ok_has_rule_and_remedy(place: Place) -> None:
    place.configure("")
    broken = [finding for finding in _asked(place) if finding.level != "ok"]
    assert {finding.code for finding in broken} >= {"warehouse_missing", "sources_none"}
    assert all(finding.rule and finding.remedy for finding in broken)


def test_a_check_that_fails_itself_is_a_finding_and_the_others_are_made(
    patient: Patient, monkeypatch: pytest.MonkeyPatch
) -> None:
    def check_itself(case: Case) -> list[Finding]:
        raise ZeroDivisionError("of no use\nat all")

    monkeypatch.setattr(examination, "OF_FOLDER", (check_itself, *examination.OF_FOLDER))
    found = patient.found("cannot_tell")
    assert found.level == "bad"
    assert found.what.endswith("itself cannot be checked: ZeroDivisionError: of no use")
    assert patient.found("writer_lock").level == "ok"


def emptied(path: Path, _dice: random.Random) -> None:
    path.write_bytes(b"")


def cut(path: Path, dice: random.Random) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: dice.randrange(max(len(content), 1))])


def scrambled(path: Path, dice: random.Random) -> None:
    path.write_bytes(dice.randbytes(path.stat().st_size))


def made_a_folder(path: Path, _dice: random.Random) -> None:
    path.unlink()
    path.mkdir()


def removed(path: Path, _dice: random.Random) -> None:
    path.unlink()


BROKEN_QUIETLY = {
    ("emptied", "writer.lock"), ("cut", "writer.lock"), ("scrambled", "writer.lock"), ("removed", "writer.lock"),
    # The job's own, which the doctor does not open.
    *((how, "warehouse.duckdb") for how in ("emptied", "cut", "scrambled", "removed")),
    # Sizes are compared, contents are the job's to check.
    ("scrambled", "lake"),
}  # fmt: skip


@pytest.mark.parametrize("how", [emptied, cut, scrambled, made_a_folder, removed], ids=lambda how: how.__name__)
def test_whatever_file_is_broken_in_whatever_way_the_doctor_answers(
    patient: Patient, how: Callable[[Path, random.Random], None]
) -> None:
    folder, dice = patient.warehouse.folder, random.Random(how.__name__)
    whole = patient.folder / "whole"
    shutil.copytree(folder, whole, symlinks=True)
    files = sorted(path for path in folder.rglob("*") if path.is_file() and not path.is_symlink())
    assert len(files) >= 5
    for path in files:
        path.chmod(path.stat().st_mode | stat.S_IWUSR)
        how(path, dice)
        patient.stand_still()
        broken = {finding.code for finding in patient.findings() if finding.level != "ok"}
        relative = path.relative_to(folder)
        if (how.__name__, relative.parts[0]) not in BROKEN_QUIETLY:
            assert broken, f"{relative} {how.__name__}"
        shutil.rmtree(folder)
        shutil.copytree(whole, folder, symlinks=True)


def _asked(place: Place) -> list[Finding]:
    return examination.examine(Case(place.config, load_settings(place.config), LATER, {}))
