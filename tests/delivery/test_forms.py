"""What each channel says: golden messages, hostile names and the limits of each service (S5, S6)."""

from __future__ import annotations

import hashlib
import hmac
import html
import json
import re
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any, get_args

import jsonschema
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipelines.alerts.kinds import KINDS, OPENED_BY, Action
from pipelines.delivery.channel import DeliveryError
from pipelines.delivery.channels.alertmanager import posted_alert
from pipelines.delivery.channels.forms import report_link
from pipelines.delivery.channels.pagerduty import EVENTS_URL, alert_event, digest_event
from pipelines.delivery.channels.slack import escaped, slack_message
from pipelines.delivery.channels.webhook import alert_id, webhook_message
from pipelines.delivery.notice import Figures, Notice
from tests.conftest import REPO
from tests.delivery import golden
from tests.delivery.conftest import CANARY, Build
from tests.delivery.loopback import LOOPBACK, Reply, receiver
from tests.delivery.notices import FIGURES, NOW, RESOLVED, TRIGGER, WORSE, many
from tests.report.test_hostile_names import HOSTILE

SCHEMA = json.loads((REPO / "docs" / "alert-webhook.schema.json").read_text())
VALID = jsonschema.Draft202012Validator(SCHEMA, format_checker=jsonschema.FormatChecker())
UNKNOWN = Figures(*(None,) * 11)
WAREHOUSE = replace(TRIGGER, kind="data_blocked", deployment=None, figures=None, report_url=None, sentences=())


def hostile(name: str) -> Notice:
    """An alert in which a name stands everywhere, unescaped."""
    return replace(
        TRIGGER,
        deployment=name,
        headline=f"{name} is in the valley",
        sentences=(f"At {name}, cached tokens lose money.", name or "-"),
        figures=replace(FIGURES, state=name, lever=name, currency=name, acknowledged_by=name),
    )


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("slack.json", slack_message([TRIGGER], 0)),
        ("slack-worse.json", slack_message([WORSE], 0)),
        ("slack-over.json", slack_message([RESOLVED], 0)),
        ("slack-digest.json", slack_message(many(3), 9)),
        ("webhook.json", webhook_message([TRIGGER], NOW)),
        ("alertmanager.json", [posted_alert(TRIGGER, NOW)]),
        ("pagerduty.json", alert_event(TRIGGER)),
        ("pagerduty-digest.json", digest_event(many(3), 9, "d" * 64, NOW)),
    ],
)
def test_messages_are_as_documented(name: str, message: Any, request: pytest.FixtureRequest) -> None:
    golden.require(name, golden.pretty(message), request.config)


# Slack


def rendered(message: dict[str, Any]) -> str:
    """What a person sees of a message in Slack."""
    parts = []
    for block in message["blocks"]:
        if block["type"] == "context":
            parts.append("   ".join(re.sub(r"<.*\|(.*)>", r"[\1]", found["text"]) for found in texts(block)))
        elif "fields" in block:
            parts.append("\n".join(found["text"].replace("\n", ": ") for found in texts(block)))
        else:
            parts += [found["text"] for found in texts(block)]
    return html.unescape("\n\n".join(parts)) + "\n"


def test_slack_shows_what_is_documented(request: pytest.FixtureRequest) -> None:
    shown = [rendered(slack_message(notices, n)) for notices, n in (([TRIGGER], 0), ([RESOLVED], 0), (many(3), 9))]
    golden.require("slack.txt", "\n---\n\n".join(shown), request.config)


def texts(value: Any) -> Iterator[dict[str, Any]]:
    """All text objects of a message."""
    if isinstance(value, dict):
        if value.get("type") in ("plain_text", "mrkdwn"):
            yield value
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)


def require_inert(message: dict[str, Any]) -> None:
    """Fail where anything in a Slack message could be more than text."""
    assert message["mrkdwn"] is False
    assert message["parse"] == "none"
    for text in [
        message["text"],
        *(found["text"] for found in texts(message["blocks"]) if found["type"] == "plain_text"),
    ]:
        assert not re.search(r"[<>]|&(?!amp;|lt;|gt;)", text)
        assert len(text.encode("utf-16-le")) / 2 <= 3000
        assert all(line.isprintable() for line in text.split("\n"))
    for found in texts(message["blocks"]):
        if found["type"] == "plain_text":
            assert found["emoji"] is False
        else:
            assert found["verbatim"] is True
            assert re.fullmatch(r"<https?://[^\s<>|]+\|Report>", found["text"])
    header = message["blocks"][0]["text"]["text"]
    assert len(header.encode("utf-16-le")) / 2 <= 150
    assert len(message["blocks"]) <= 50


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_no_name_is_more_than_text_in_slack(name: str) -> None:
    message = slack_message([hostile(name)], 0)
    require_inert(message)
    require_inert(slack_message([hostile(name)] * 20, 1_000_000))
    assert "\n" not in message["text"]
    json.dumps(message).encode("ascii")


@pytest.mark.parametrize(
    "name", ["a&b", "<!channel>", "<@U1>", "<https://evil|click>", "&lt;", "*b* _i_ `c` ~s~ :fire:"]
)
def test_what_slack_shows_is_the_name(name: str) -> None:
    message = slack_message([hostile(name)], 0)
    assert html.unescape(message["text"]) == f"🔴 ALERT: {name} is in the valley"
    assert html.unescape(message["blocks"][0]["text"]["text"]) == f"🔴 ALERT: {name} is in the valley"


@given(st.text("ab&<>🔥é", max_size=60), st.integers(min_value=10, max_value=80))
def test_escaping_cuts_between_characters(text: str, limit: int) -> None:
    cut = escaped(text, limit)
    assert len(cut.encode("utf-16-le")) / 2 <= limit
    shown = html.unescape(cut)
    assert shown == text or text.startswith(shown.removesuffix("…"))
    assert shown == text or len(escaped(text, 10_000).encode("utf-16-le")) / 2 > limit


def test_a_headline_too_long_for_the_header_is_told_whole() -> None:
    notice = replace(TRIGGER, headline="x" * 140 + " & so on", report_url="javascript:alert(1)")
    blocks = slack_message([notice], 0)["blocks"]
    assert blocks[0]["text"]["text"].endswith("…")
    assert blocks[1]["text"]["text"].startswith("x" * 140 + " &amp; so on\n")
    assert "javascript" not in str(blocks)


def test_trigger_update_and_resolve_look_different_at_a_glance() -> None:
    signs = {slack_message([notice], 0)["text"].split(":")[0] for notice in (TRIGGER, WORSE, RESOLVED)}
    assert signs == {"🔴 ALERT", "🟠 WORSE", "🟢 OVER"}


@pytest.mark.parametrize(
    ("url", "link"),
    [
        ("https://r.example.com/a b?x=<y>|'z'#d-1", "https://r.example.com/a%20b?x=%3Cy%3E%7C%27z%27#d-1"),
        ("http://r.example.com:8080/100%/%41", "http://r.example.com:8080/100%25/%41"),
        ("https://r.example.com", "https://r.example.com"),
        ("https://r.example.com/é\n", "https://r.example.com/%C3%A9%0A"),
        ("javascript:alert(1)", None),
        ("file:///report.html", None),
        ("https://good@evil/", None),
        ("https:///report.html", None),
        ("report.html", None),
        (None, None),
    ],
)
def test_only_a_report_on_the_web_is_linked(url: str | None, link: str | None) -> None:
    assert report_link(replace(TRIGGER, report_url=url)) == link


# The webhook


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("figures", [None, UNKNOWN, FIGURES])
def test_the_webhooks_body_is_of_its_schema(kind: str, figures: Figures | None) -> None:
    notices = [replace(TRIGGER, kind=kind, figures=figures), replace(WAREHOUSE, kind=kind)]
    body = json.loads(json.dumps(webhook_message(notices, NOW + timedelta(microseconds=5))))
    VALID.validate(body)
    assert [alert["action"] for alert in body["alerts"]] == [KINDS[kind]] * 2
    assert body["alerts"][0]["figures"] is None or set(body["alerts"][0]["figures"]) == set(Figures.__slots__)


def test_the_schema_refuses_what_is_not_of_it() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    assert set(SCHEMA["$defs"]["alert"]["properties"]["kind"]["enum"]) == set(KINDS)
    assert set(SCHEMA["$defs"]["alert"]["properties"]["action"]["enum"]) == set(get_args(Action))
    for key in SCHEMA["$defs"]["alert"]["required"]:
        body = webhook_message([TRIGGER], NOW)
        del body["alerts"][0][key]
        assert not VALID.is_valid(body)
    assert not VALID.is_valid(webhook_message([TRIGGER], NOW) | {"schema_version": 2})
    assert not VALID.is_valid(webhook_message([TRIGGER], NOW) | {"sent_at": "today"})


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE)
def test_a_name_is_a_string_in_json(name: str) -> None:
    notice = hostile(name)
    body = json.loads(json.dumps(webhook_message([notice], NOW)))
    VALID.validate(body)
    assert body["alerts"][0]["deployment"] == name
    for message in (posted_alert(notice, NOW), alert_event(notice), digest_event([notice] * 20, 5, "k" * 64, NOW)):
        json.dumps(message).encode("ascii")
    assert len(alert_event(notice)["payload"]["summary"]) <= 1024
    assert alert_event(notice)["dedup_key"] == TRIGGER.dedup_key


def test_the_webhook_is_signed_and_its_key_is_the_same_each_time(build: Build) -> None:
    with receiver(Reply(500), Reply(204, b"")) as server:
        url = f"http://{LOOPBACK}:{server.port}/hook"
        channel = build("webhook", url, secret_env="SECRET", environment={"SECRET": CANARY})
        with pytest.raises(DeliveryError, match="500"):
            channel.send(many(100), n_more=0, digest_key=None, now=NOW)
        channel.send(many(100), n_more=0, digest_key=None, now=NOW + timedelta(minutes=5))
        build("webhook", url).send([TRIGGER], n_more=0, digest_key=None, now=NOW)
    first, second, unsigned = server.seen
    assert first.headers["idempotency-key"] == second.headers["idempotency-key"]
    assert first.headers["idempotency-key"] != unsigned.headers["idempotency-key"]
    assert "x-valleywatch-signature" not in unsigned.headers
    for request, moment in ((first, NOW), (second, NOW + timedelta(minutes=5))):
        stamp = str(int(moment.timestamp()))
        expected = hmac.new(CANARY.encode(), f"{stamp}.".encode() + request.body, hashlib.sha256).hexdigest()
        assert request.headers["x-valleywatch-signature"] == f"t={stamp},v1={expected}"
        assert request.headers["content-type"] == "application/json"
    assert [alert["id"] for alert in json.loads(first.body)["alerts"]] == list(map(alert_id, many(100)))


def test_alerts_have_ids_of_their_own() -> None:
    other_level = replace(WORSE, level=2)
    assert len({alert_id(notice) for notice in (TRIGGER, WORSE, other_level, RESOLVED, *many(50))}) == 54


# PagerDuty


def test_pagerduty_opens_and_closes_under_one_key(build: Build) -> None:
    with receiver(Reply(202, b'{"status":"success"}')) as server:
        channel = build("pagerduty", f"http://{LOOPBACK}:{server.port}/v2/enqueue")
        for notice in (TRIGGER, WORSE, RESOLVED):
            channel.send([notice], n_more=0, digest_key=None, now=NOW)
        channel.send(many(20), n_more=80, digest_key="d" * 64, now=NOW)
        channel.send([replace(RESOLVED, dedup_key=str(i)) for i in range(20)], n_more=0, digest_key="d" * 64, now=NOW)
    events = [json.loads(request.body) for request in server.seen]
    assert [event["event_action"] for event in events] == ["trigger", "trigger", "resolve", "trigger", "resolve"]
    assert [event["dedup_key"] for event in events] == [TRIGGER.dedup_key] * 3 + ["d" * 64] * 2
    assert {event["routing_key"] for event in events} == {CANARY}
    assert events[3]["payload"]["summary"] == "valleywatch: 100 alerts at once"
    assert events[3]["payload"]["custom_details"]["more"] == 80
    for event in events:
        assert event["payload"]["severity"] in ("critical", "error", "warning", "info")
        assert event["payload"]["source"]
        assert all(set(link) == {"href", "text"} for link in event["links"])


def test_pagerduty_has_a_default_address(build: Build) -> None:
    channel: Any = build("pagerduty", "", allow=())
    endpoint = channel.post.endpoint
    assert f"https://{endpoint.host}{endpoint.target.get_secret_value()}" == EVENTS_URL


# Alertmanager


@pytest.mark.parametrize("kind", sorted(OPENED_BY))
def test_alertmanager_knows_an_alert_by_the_same_labels_from_beginning_to_end(kind: str) -> None:
    opened = posted_alert(replace(TRIGGER, kind=OPENED_BY[kind]), NOW)
    later = replace(TRIGGER, kind=kind, level=3, at=WORSE.at, headline="other", figures=UNKNOWN)
    assert posted_alert(later, NOW)["labels"] == opened["labels"]
    assert posted_alert(later, NOW)["startsAt"] == opened["startsAt"]


def test_an_end_is_after_its_beginning() -> None:
    at_once = posted_alert(replace(RESOLVED, at=RESOLVED.since), NOW)
    assert at_once["endsAt"] > at_once["startsAt"]
    assert posted_alert(RESOLVED, NOW)["endsAt"] == "2026-11-28T22:00:00Z"
    assert posted_alert(WORSE, NOW)["endsAt"] == "2026-11-30T03:30:00Z"
