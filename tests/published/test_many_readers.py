"""Readers beside a job that publishes: no lock, no missing file, and every answer is of one version."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPO

pytestmark = pytest.mark.jobs


@pytest.mark.parametrize(
    ("n_readers", "n_publishes", "job"),
    [
        pytest.param(4, 8, "marts", id="four"),
        pytest.param(20, 50, "whole", id="twenty", marks=[pytest.mark.slow, pytest.mark.timeout(600)]),
    ],
)
def test_every_answer_is_of_one_version_while_the_job_publishes(
    tmp_path: Path, n_readers: int, n_publishes: int, job: str
) -> None:
    command = [sys.executable, "-m", "tests.published.readers", str(tmp_path), str(n_readers), str(n_publishes), job]
    done = subprocess.run(command, cwd=REPO, capture_output=True, text=True, timeout=550)
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == n_readers
    for reader in found:
        assert reader["wrong"] == []
        # What is published last is seen by all of them.
        assert reader["versions"][-1] == n_publishes
        assert reader["answers"] > 3
    assert len({version for reader in found for version in reader["versions"]}) > n_publishes // 2
