"""A1: SIGKILL before, between and after sending and keeping. Every episode is told, under a key of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections import Counter

import pytest

from tests.conftest import REPO
from tests.delivery.desk import Desk, entries
from tests.delivery.loopback import LOOPBACK, Reply, receiver
from tests.place import Place

pytestmark = pytest.mark.jobs

ROUNDS = """
import os, sys
from pathlib import Path
from pipelines.delivery.patience import deliver_patiently
from pipelines.overview import overviews
from pipelines.settings import load_settings
from tests.delivery.desk import NOW

settings = load_settings(Path(sys.argv[1]))
for point in sys.argv[2:]:
    # Forked before any engine has run in this process, so that its imports are paid for once.
    child = os.fork()
    if child == 0:
        if point != "none":
            os.environ["VALLEYWATCH_FAULT"] = point
        deliver_patiently(settings, lambda _line: None, patience_s=0.0, clock=lambda: NOW)
        os._exit(0)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""
PAGER = """
[[alerts]]
kind = "pagerduty"
key_env = "VALLEYWATCH_TEST_KEY"
url_env = "VALLEYWATCH_TEST_URL"
allow = ["127.0.0.1"]

[alerting]
digest_over = 100
"""
POINTS = ("alert_sent", "alert_sending", "alert_kept")


@pytest.mark.parametrize(
    ("n_kills", "n_episodes"), [(12, 6), pytest.param(102, 40, marks=[pytest.mark.slow, pytest.mark.timeout(400)])]
)
def test_every_episode_is_told_whenever_the_sender_is_killed(place: Place, n_kills: int, n_episodes: int) -> None:
    Desk(place, PAGER).write(*entries(n_episodes))
    points = [POINTS[number % 3] for number in range(n_kills)]
    with receiver(Reply(202)) as pager:
        environment = {
            "VALLEYWATCH_TEST_KEY": "routing-key",
            "VALLEYWATCH_TEST_URL": f"http://{LOOPBACK}:{pager.port}/v2/enqueue",
        }
        command = [sys.executable, "-P", "-c", ROUNDS, str(place.config), *points, "none"]
        done = subprocess.run(
            command,
            env=os.environ | environment | {"PYTHONPATH": str(REPO)},
            capture_output=True, text=True, timeout=360,
        )  # fmt: skip
    assert [int(code) for code in done.stdout.split()] == [-9] * n_kills + [0], done.stderr
    told = Counter(json.loads(request.body)["dedup_key"] for request in pager.seen)
    assert set(told) == {f"key of pool {number:05}" for number in range(n_episodes)}
    assert 0 < sum(told.values()) - n_episodes <= n_kills
    assert place.rows("select distinct status from alert_deliveries") == [{"status": "sent"}]
