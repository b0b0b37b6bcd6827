"""The units are accepted by systemd itself, are shut in, and start commands that exist."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO
from tests.deploy.commands import require_understood

UNITS = REPO / "docs" / "deploy" / "systemd"
SERVICES = sorted(UNITS.glob("*.service"))
TIMERS = sorted(UNITS.glob("*.timer"))
PREFIX = "/opt/valleywatch/bin"


def analyzed(*arguments: str | Path) -> str:
    tool = shutil.which("systemd-analyze")
    if tool is None:
        pytest.skip("systemd-analyze is not installed: apt-get install systemd")
    done = subprocess.run(
        [tool, *map(str, arguments)], capture_output=True, text=True, timeout=60,
        env=os.environ | {"SYSTEMD_COLORS": "0"}, check=False,
    )  # fmt: skip
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    return said


@pytest.fixture
def units(tmp_path: Path) -> Path:
    """The units with the commands of this environment in place of those of an installation."""
    folder = tmp_path / "units"
    shutil.copytree(UNITS, folder)
    for unit in folder.glob("*.service"):
        unit.write_text(unit.read_text().replace(PREFIX, str(Path(sys.executable).parent)))
    return folder


def test_systemd_has_nothing_to_say(units: Path) -> None:
    assert analyzed("verify", *units.glob("*.service"), *units.glob("*.timer")) == ""
    (units / "valleywatch-run.timer").write_text("[Timer]\nOnCalendar=often\n")
    with pytest.raises(AssertionError, match="Failed to parse calendar"):
        analyzed("verify", units / "valleywatch-run.timer")


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.stem)
def test_a_service_is_shut_in(unit: Path, units: Path) -> None:
    """At most 1.8 of 10 by systemd's own scale; what is left is the network that alerts and object stores need."""
    analyzed("security", "--offline=true", "--threshold=18", units / unit.name)
    (units / "valleywatch-.service.d" / "hardening.conf").unlink()
    with pytest.raises(AssertionError, match="UNSAFE"):
        analyzed("security", "--offline=true", "--threshold=18", units / unit.name)


@pytest.mark.parametrize("unit", SERVICES, ids=lambda path: path.stem)
def test_a_service_starts_a_command_that_exists(unit: Path) -> None:
    (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.MULTILINE)
    program, *arguments = shlex.split(line.replace("${VALLEYWATCH_CONFIG}", "valleywatch.toml"))
    folder, _, name = program.rpartition("/")
    assert folder == PREFIX
    require_understood(name, arguments)


@pytest.mark.parametrize("timer", TIMERS, ids=lambda path: path.stem)
def test_a_timer_starts_a_service_that_is_there_when_it_says(timer: Path) -> None:
    assert timer.with_suffix(".service") in SERVICES
    (when,) = re.findall(r"^OnCalendar=(.*)$", timer.read_text(), re.MULTILINE)
    assert "Next elapse" in analyzed("calendar", when)
    assert "WantedBy=timers.target" in timer.read_text()


def test_secrets_come_from_a_file_that_no_unit_holds() -> None:
    text = "".join(path.read_text() for path in [*SERVICES, *UNITS.glob("*.d/*.conf")])
    assert "EnvironmentFile=-/etc/valleywatch/secrets.env" in text
    assert not re.search(r"^(?!#).*(_URL|_KEY|TOKEN|SECRET|PASSWORD)=", text, re.MULTILINE)


def test_a_run_that_needs_a_person_is_not_tried_again() -> None:
    text = (UNITS / "valleywatch-run.service").read_text()
    assert re.search(r"^Restart=on-failure$", text, re.MULTILINE)
    assert re.search(r"^RestartPreventExitStatus=1 2$", text, re.MULTILINE)
    assert re.search(r"^StartLimitBurst=\d$", text, re.MULTILINE)
