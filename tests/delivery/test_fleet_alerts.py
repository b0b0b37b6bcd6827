"""The generated fleet's episode, from its logs to a Slack-shaped endpoint, a mail server and the real Alertmanager."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType

import pytest

from pipelines.delivery.patience import deliver_patiently
from pipelines.settings import load_settings
from tests.conftest import REPO, FleetWarehouse
from tests.delivery import golden
from tests.delivery.alertmanager import Alertmanager, wait_for
from tests.delivery.loopback import LOOPBACK, receiver
from tests.delivery.mailbox import Mailbox, mail_server, text_of
from tests.place import Place

pytestmark = pytest.mark.jobs

MORNING = datetime(2026, 11, 29, 1, 30, tzinfo=UTC)
REPORT = '\n[report]\nurl = "https://reports.example.com/valleywatch/"\n'
SLACK = '\n[[alerts]]\nkind = "slack"\nurl_env = "SLACK_URL"\nallow = ["127.0.0.1"]\ndeployments = ["glm-5-h200"]\n'
MAIL = """
[[alerts]]
kind = "email"
url_env = "SMTP_URL"
sender = "valleywatch@example.com"
recipients = ["oncall@example.com"]
allow = ["127.0.0.1"]
deployments = ["glm-5-h200"]
"""
ALERTMANAGER = '\n[[alerts]]\nkind = "alertmanager"\nurl_env = "ALERTMANAGER_URL"\nallow = ["127.0.0.1"]\n'
ENTRY = "glm-5-h200 entered the valley at 2026-11-28T08:00Z: "


def test_an_episode_reaches_slack_and_mail_as_the_page_shows(
    fleet_warehouse: FleetWarehouse, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    place = fleet_warehouse.copy(tmp_path / "copy")
    place.configure(place.config.read_text() + REPORT + SLACK + MAIL)
    mailbox = Mailbox()
    with receiver() as slack, mail_server(mailbox) as port:
        environment = {
            "SLACK_URL": f"http://{LOOPBACK}:{slack.port}/services/T0/B0/x",
            "SMTP_URL": f"smtp://{LOOPBACK}:{port}",
        }
        done = deliver_patiently(
            load_settings(place.config), print, environment=environment, clock=lambda: MORNING, patience_s=0.0
        )
    assert (done.sent, done.waiting, done.dead) == (2, 0, 0)
    (posted,), (mailed,) = slack.seen, mailbox.messages
    said = json.dumps(json.loads(posted.body), ensure_ascii=False)
    text = text_of(mailed)
    for told in (said, text):
        # Which deployment and since when, the index with its interval, what a day costs, the way out, the report.
        assert ENTRY in told
        assert "0.938 (0.935–0.941)" in told
        assert "38.31 USD" in told
        assert "raise the hit rate to 79.5%" in told
        assert re.search(r"https://reports\.example\.com/valleywatch/d-[0-9a-f]{16}\.html", told)
    page = f"Subject: {mailed['Subject']}\n\n{text.rstrip()}\n"
    golden.require("fleet-email.txt", page, request.config)
    assert f"```text\n{page}```" in (REPO / "docs" / "alerts.md").read_text()


@pytest.fixture
def yesterday(fleet_module: ModuleType, tmp_path: Path) -> Place:
    """A day of the fleet's deployment that is in the valley, as logged until last midnight."""
    place = Place(tmp_path / "place")
    fleet = tuple(one for one in fleet_module.FLEET if one.name == "glm-5-h200")
    day = (datetime.now(UTC) - timedelta(days=1)).date()
    fleet_module.generate_fleet(place.logs, day=day, fleet=fleet)
    (place.logs / "truth.json").unlink()
    demo = (REPO / "fixtures" / "demo.toml").read_text()
    prices = demo[demo.index("[[prices]]") :].split("\n\n")[0]
    place.configure('[[sources]]\nname = "fleet"\nformat = "canonical"\npath = "logs/*"\n\n' + prices + ALERTMANAGER)
    return place


def test_an_episode_of_yesterday_reaches_the_real_alertmanager_by_a_run(
    yesterday: Place, alertmanager: Alertmanager, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ALERTMANAGER_URL", alertmanager.url)
    assert yesterday.valleywatch("run") == 0
    ((key, entered_at),) = [
        tuple(row.values()) for row in yesterday.rows("select dedup_key, entered_at from valley_episodes")
    ]
    wait_for(lambda: alertmanager.by_key(key), "the alert")
    (alert,) = alertmanager.by_key(key)
    assert alert["labels"]["deployment"] == "glm-5-h200"
    assert datetime.fromisoformat(alert["startsAt"]) == entered_at.replace(tzinfo=UTC)
    assert alert["annotations"]["summary"].startswith("glm-5-h200 entered the valley at ")
    assert yesterday.valleywatch("alerts", "send") == 0
    assert len(alertmanager.by_key(key)) == 1
