"""A healthy warehouse to break, and the doctor's answer by code."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from pipelines.doctor.case import Case
from pipelines.doctor.examination import examine
from pipelines.doctor.finding import Finding
from pipelines.heartbeat import beat
from pipelines.settings import load_settings
from pipelines.warehouse import Writer
from tests.place import NOW, Place, request

NOBODY = 65534
LATER = NOW + timedelta(hours=1)
"""When the doctor is asked: the last run was at NOW."""
HOURS = [f"2026-11-2{8 + hour // 24}T{hour % 24:02}:15:00Z" for hour in range(34)]


class Patient(Place):
    """A place whose job ran at NOW."""

    def stand_still(self, at: datetime = NOW) -> None:
        """Let all files of the warehouse be of that moment."""
        for path in (self.warehouse.folder, *self.warehouse.folder.rglob("*")):
            os.utime(path, (at.timestamp(), at.timestamp()), follow_symlinks=False)

    def change(self, change: Callable[[Writer], None]) -> None:
        """Change rows behind the job's back, and publish them."""
        with self.warehouse.writer() as writer:
            change(writer)
            writer.publish()
        self.stand_still()

    def findings(
        self,
        now: datetime = LATER,
        environment: Mapping[str, str] | None = None,
        proc: Path = Path("/proc"),
        run: Path = Path("/nowhere"),
    ) -> list[Finding]:
        """Ask the doctor."""
        return examine(Case(self.config, load_settings(self.config), now, environment or {}, proc, run))

    def found(self, code: str, now: datetime = LATER, environment: Mapping[str, str] | None = None) -> Finding:
        """Return the one finding of that code."""
        findings = self.findings(now, environment)
        matching = [finding for finding in findings if finding.code == code]
        assert len(matching) == 1, [finding for finding in findings if finding.level != "ok"] + matching
        return matching[0]


def after_a_run(place: Patient) -> Patient:
    """Let the job succeed there at NOW."""
    place.write("a.jsonl", [request(number, timestamp=hour) for number, hour in enumerate(HOURS)])
    place.settle()
    beat(place.warehouse, NOW, "2026-11-29")
    return place


@pytest.fixture(scope="session")
def treated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse after a run, of requests up to two hours ago; read only."""
    return after_a_run(Patient(tmp_path_factory.mktemp("healthy") / "place")).folder


@pytest.fixture
def patient(treated: Path, tmp_path: Path) -> Patient:
    """The same warehouse in a place of its own."""
    shutil.copytree(treated, tmp_path / "place", symlinks=True)
    place = Patient(tmp_path / "place")
    place.stand_still()
    return place


@contextmanager
def closed_to_us(path: Path) -> Iterator[None]:
    """Take everybody's rights to `path` away; root, which needs none, becomes nobody for a while."""
    mode = path.stat().st_mode
    path.chmod(0)
    user = os.geteuid()
    if user == 0:
        os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(user)
        path.chmod(mode)


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A scratch folder that everybody may enter, unlike pytest's own."""
    folder = Path(tempfile.mkdtemp(prefix="doctor-"))
    folder.chmod(0o755)
    yield folder
    shutil.rmtree(folder)
