"""The real Alertmanager, as Debian packages it: alerts appear once, stay, and end."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.notice import Notice
from tests.delivery.conftest import Build
from tests.delivery.loopback import LOOPBACK, Receiver, Reply, free_port, receiver
from tests.delivery.notices import RESOLVED, TRIGGER, WORSE, many
from tests.report.test_hostile_names import HOSTILE

BINARY = shutil.which("prometheus-alertmanager")
needs_alertmanager = pytest.mark.skipif(BINARY is None, reason="needs Debian's prometheus-alertmanager")
pytestmark = needs_alertmanager
CONFIG = """
route:
  receiver: told
  group_by: [valleywatch_key]
  group_wait: 0s
  group_interval: 1s
receivers:
  - name: told
    webhook_configs:
      - url: http://{host}:{port}/
        send_resolved: true
"""


@dataclass(frozen=True)
class Alertmanager:
    """A running server, and what it tells its own receiver."""

    url: str
    told: Receiver

    def alerts(self) -> list[dict[str, Any]]:
        """The alerts that are open."""
        with urllib.request.urlopen(f"{self.url}/api/v2/alerts", timeout=10) as answer:
            found: list[dict[str, Any]] = json.load(answer)
            return found

    def by_key(self, key: str) -> list[dict[str, Any]]:
        """The open alerts of one key."""
        return [alert for alert in self.alerts() if alert["labels"]["valleywatch_key"] == key]

    def notified(self, key: str) -> list[str]:
        """What it told of one key."""
        bodies = [json.loads(request.body) for request in self.told.seen]
        return [body["status"] for body in bodies if body["groupLabels"].get("valleywatch_key") == key]


def wait_for(holds: Callable[[], Any], what: str) -> None:
    """Return once it holds; fail after 20 s."""
    end = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < end, f"waited in vain for {what}"
        time.sleep(0.02)


@pytest.fixture(scope="module")
def alertmanager(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Alertmanager]:
    """Start one; it ends by its own process."""
    folder: Path = tmp_path_factory.mktemp("alertmanager")
    port = free_port()
    with receiver(Reply(200)) as told:
        (folder / "config.yml").write_text(CONFIG.format(host=LOOPBACK, port=told.port))
        assert BINARY
        options = {
            "config.file": folder / "config.yml",
            "storage.path": folder / "data",
            "web.listen-address": f"{LOOPBACK}:{port}",
            "cluster.listen-address": "",
        }
        command = [BINARY, *(f"--{name}={value}" for name, value in options.items())]
        with (folder / "log").open("w") as log:
            process = subprocess.Popen(command, stdout=log, stderr=log)
        found = Alertmanager(f"http://{LOOPBACK}:{port}", told)

        def is_ready() -> bool:
            assert process.poll() is None, (folder / "log").read_text()
            try:
                with urllib.request.urlopen(f"{found.url}/-/ready", timeout=10) as answer:
                    return bool(answer.status == 200)
            except (urllib.error.URLError, ConnectionError):
                return False

        try:
            wait_for(is_ready, "Alertmanager")
            yield found
        finally:
            process.terminate()
            process.wait(10)


@pytest.fixture
def now() -> datetime:
    """The server's own time: it ends alerts by its clock."""
    return datetime.now(UTC).replace(microsecond=0)


def at_hours(notice: Notice, now: datetime, since: int, at: int, key: str) -> Notice:
    """Return the notice of so many hours ago, under a key of its own."""
    return replace(notice, since=now - timedelta(hours=since), at=now - timedelta(hours=at), dedup_key=key)


def test_an_alert_appears_stays_one_and_ends(build: Build, alertmanager: Alertmanager, now: datetime) -> None:
    channel = build("alertmanager", alertmanager.url)
    key = "one"
    for notice in (TRIGGER, TRIGGER, WORSE, TRIGGER):  # sent again at each pass
        channel.send([at_hours(notice, now, 10, 10, key)], n_more=0, digest_key=None, now=now)
    wait_for(lambda: alertmanager.by_key(key), "the alert")
    (alert,) = alertmanager.by_key(key)
    assert alert["labels"] == {
        "alertname": "ValleywatchValley",
        "deployment": "glm-5-h200",
        "severity": "critical",
        "valleywatch_key": key,
    }
    assert alert["annotations"]["summary"] == TRIGGER.headline
    assert alert["annotations"]["revenue_index"] == "0.832 (0.790–0.871)"
    assert alert["generatorURL"] == TRIGGER.report_url
    assert datetime.fromisoformat(alert["startsAt"]) == now - timedelta(hours=10)
    assert datetime.fromisoformat(alert["endsAt"]) == now + timedelta(hours=26)
    wait_for(lambda: alertmanager.notified(key), "its own notification")
    channel.send([at_hours(RESOLVED, now, 10, 2, key)], n_more=0, digest_key=None, now=now)
    wait_for(lambda: not alertmanager.by_key(key), "its end")
    wait_for(lambda: "resolved" in alertmanager.notified(key), "the notification of its end")
    assert set(alertmanager.notified(key)[:-1]) == {"firing"}


def test_alerts_of_each_kind_and_of_any_name_are_taken(build: Build, alertmanager: Alertmanager, now: datetime) -> None:
    channel = build("alertmanager", f"{alertmanager.url}/")
    names = [name for name in HOSTILE.values() if len(name) <= 256]
    notices = [
        replace(notice, deployment=name, headline=f"{name} is in the valley", report_url=f"https://example.com/{name}")
        for notice, name in zip(many(len(names), since=now, at=now), names, strict=True)
    ]
    kinds = ("entry", "stale", "untrustworthy", "data_blocked")
    notices += [
        replace(TRIGGER, kind=kind, dedup_key=kind, deployment=None, figures=None, report_url=None, sentences=())
        for kind in kinds
    ]
    channel.send(notices, n_more=0, digest_key=None, now=now)
    keys = {notice.dedup_key for notice in notices}
    wait_for(lambda: keys <= {alert["labels"]["valleywatch_key"] for alert in alertmanager.alerts()}, "all of them")
    assert len([alert for alert in alertmanager.alerts() if alert["labels"]["valleywatch_key"] in keys]) == len(notices)


def test_what_it_refuses_is_not_tried_again(build: Build, alertmanager: Alertmanager, now: datetime) -> None:
    channel = build("alertmanager", f"{alertmanager.url}/elsewhere")
    with pytest.raises(DeliveryError) as caught:
        channel.send([TRIGGER], n_more=0, digest_key=None, now=now)
    assert (caught.value.reason, caught.value.status, caught.value.is_transient) == ("status", 404, False)
