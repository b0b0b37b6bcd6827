"""docs/operations.md on the doctor: the session shown is real, and every code is explained."""

from __future__ import annotations

import re
import shlex
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import chdir
from datetime import timedelta
from functools import partial
from pathlib import Path

import pytest

from pipelines.commands import doctor
from pipelines.doctor.case import Case
from pipelines.errors import DiskFullError
from pipelines.heartbeat import noting_failure
from tests.conftest import REPO
from tests.contract.pages import Step, steps
from tests.doctor.conftest import Patient, after_a_run
from tests.doctor.test_alerts import alert, delivery, told
from tests.place import NOW

PAGE = REPO / "docs" / "operations.md"
SECTION = next(part for part in re.split(r"^## ", PAGE.read_text(), flags=re.MULTILINE) if part.startswith("Doctor\n"))
SHOWN_FOLDER = "/srv/valleywatch"
OF_THE_MACHINE = re.compile(
    r"[\d.,]+ [GM]iB|room for [\d,]+ days|Python \S+|user \d+|lies on \S+|\d+ requirements|\d[\d,]* rows|[: ]-+$| +$",
    re.MULTILINE,
)
TWO_DAYS_LATER = NOW + timedelta(days=2)


@pytest.fixture
def neglected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Patient]:
    """A warehouse without a success for two days, in a folder whose name is as long as the one shown."""
    folder = Path(tempfile.mkdtemp(prefix="vw-", dir="/tmp"))
    patient = after_a_run(Patient(folder))
    told(patient, [alert("a")], [delivery("a", "dead", error="status: the answer was 404")])
    patient.config.chmod(0o644)
    with pytest.raises(DiskFullError), noting_failure(patient.warehouse, NOW + timedelta(hours=13, minutes=30)):
        raise DiskFullError("no space is left for /srv/valleywatch/warehouse")
    patient.stand_still()
    monkeypatch.setattr(doctor, "present", lambda: TWO_DAYS_LATER)
    monkeypatch.setattr(doctor, "Case", partial(Case, run=Path("/nowhere")))
    monkeypatch.setenv("SLACK_URL", "https://hooks.example/x")
    yield patient
    shutil.rmtree(folder)


@pytest.mark.parametrize("step", [one for one in steps(PAGE) if "doctor" in one.command], ids=lambda one: one.command)
def test_what_the_page_types_prints_what_it_shows(
    step: Step, neglected: Patient, capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest
) -> None:
    assert len(str(neglected.folder)) == len(SHOWN_FOLDER)
    with chdir(neglected.folder):
        assert doctor_run(neglected, step) == 1
    printed = capsys.readouterr().out.replace(str(neglected.folder), SHOWN_FOLDER)
    if OF_THE_MACHINE.sub("", printed) != OF_THE_MACHINE.sub("", step.shown):
        step.require(printed, request.config)


def doctor_run(patient: Patient, step: Step) -> int:
    return patient.valleywatch(*shlex.split(step.command)[1:])


def test_every_code_is_in_the_page_and_no_other() -> None:
    made = re.compile(r'\b(?:ok|warn|bad|found|return bad|_lock)\(\s*(?:case, \S+ )?f?"([a-z_{}]+)"|_Kept\("([a-z_]+)"')
    codes = set()
    for path in (REPO / "pipelines" / "doctor").glob("*.py"):
        codes |= {one or other for one, other in made.findall(path.read_text())}
    codes -= {"{code}_long", "{code}_unseen"}
    codes |= {f"{lock}_lock{end}" for lock in ("writer", "delivery") for end in ("", "_long", "_unseen")}
    table = "\n".join(line for line in SECTION.splitlines() if line.startswith("| "))
    known = set(re.findall(r"`([a-z]+(?:_[a-z]+)*)`", table)) - {"status", "chmod"}
    assert known == codes
    assert len(codes) > 60
