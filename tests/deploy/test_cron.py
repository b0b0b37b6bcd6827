"""The crontab: schedules that cron reads, commands that exist, a shell that says what it should."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from dagster._utils.schedules import is_valid_cron_string

from tests.conftest import REPO
from tests.deploy.commands import require_understood

CRONTAB = (REPO / "docs" / "deploy" / "cron" / "valleywatch").read_text()
LINES = [line for line in CRONTAB.splitlines() if line and not line.startswith("#")]
VARIABLES = dict(line.split("=", 1) for line in LINES if re.match(r"[A-Z_]+=", line))
JOBS = [line.split(maxsplit=6) for line in LINES if not re.match(r"[A-Z_]+=", line)]
COMMANDS = {re.findall(r"valleywatch ([a-z]+)", job[6])[0]: job[6] for job in JOBS}


def test_somebody_is_told_and_every_schedule_is_one() -> None:
    assert set(VARIABLES) == {"MAILTO", "SHELL", "PATH", "VALLEYWATCH_CONFIG"}
    assert set(COMMANDS) == {"run", "alerts", "doctor"}
    for *when, user, command in JOBS:
        assert is_valid_cron_string(" ".join(when))
        assert user == "valleywatch"
        assert "%" not in command  # cron would make a line break of it
    assert CRONTAB.endswith("\n")  # or cron forgets the last line


@pytest.mark.parametrize("name", COMMANDS)
def test_a_job_starts_a_command_that_exists(name: str) -> None:
    (typed,) = re.findall(r"chronic valleywatch (.*?)(?: \|\||$)", COMMANDS[name])
    require_understood("valleywatch", shlex.split(typed))


def fake(folder: Path, name: str, script: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o700)


@pytest.mark.parametrize(("code", "ends_as"), [(0, 0), (75, 0), (1, 1)])
def test_being_busy_is_silent_where_it_is_no_news(code: int, ends_as: int, tmp_path: Path) -> None:
    """The very line, with stand-ins for the two programs: what it passes on, and that secrets reach the command."""
    fake(tmp_path, "chronic", 'exec "$@"')
    fake(tmp_path, "valleywatch", f"[ \"$VALLEYWATCH_SLACK_URL\" = 'a b$c' ] || exit 3; exit {code}")
    secrets = tmp_path / "secrets.env"
    secrets.write_text("VALLEYWATCH_SLACK_URL='a b$c'\n")
    line = COMMANDS["alerts"].replace("/etc/valleywatch/secrets.env", str(secrets))
    done = subprocess.run(
        [shutil.which("sh") or "", "-c", line], env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False, timeout=20
    )
    assert done.returncode == ends_as
