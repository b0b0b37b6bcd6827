"""Alerts that wait, were given up, or were never taken up; and the channels that should have had them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pipelines.times import US_PER_HOUR, to_us
from pipelines.warehouse import Writer
from tests.doctor.conftest import LATER, Patient
from tests.place import NOW, PRICE, SOURCE

SLACK = '\n[[alerts]]\nkind = "slack"\nurl_env = "SLACK_URL"\n'
SIGNED = '\n[[alerts]]\nkind = "webhook"\nname = "hook"\nurl_env = "HOOK_URL"\nsecret_env = "HOOK_KEY"\n'
CANARY = "https://hooks.example/secret-canary"
ENVIRONMENT = {"SLACK_URL": CANARY}
HOUR = timedelta(hours=1)


def alert(key: str, *, written_at: Any = NOW, deployment: str = "pool", kind: str = "entry") -> dict[str, Any]:
    return {
        "dedup_key": key, "kind": kind, "level": 0, "deployment": deployment, "message": "is in the valley",
        "action": "trigger",
        "hour_index": to_us(written_at) // US_PER_HOUR, "written_us": to_us(written_at),
    }  # fmt: skip


def delivery(key: str, status: str, *, at: Any = NOW, **more: Any) -> dict[str, Any]:
    row = {
        "dedup_key": key,
        "kind": "entry",
        "level": 0,
        "channel": "slack",
        "status": status,
        "attempts": 3,
        "error": None,
    }
    return row | {"first_attempt_us": to_us(at), "settled_us": to_us(at) if status == "dead" else None} | more


def told(patient: Patient, alerts: list[dict[str, Any]], deliveries: list[dict[str, Any]], *acks: str) -> Patient:
    patient.configure(SOURCE + PRICE + SLACK)

    def change(writer: Writer) -> None:
        writer.insert_rows("ops.alert_outbox", alerts)
        writer.insert_rows("ops.alert_deliveries", deliveries)
        acked = {"acknowledged_us": to_us(NOW), "acknowledged_by": "ops"}
        writer.insert_rows("ops.alert_acks", [acked | {"dedup_key": key} for key in acks])

    patient.change(change)
    return patient


def codes(patient: Patient, now: Any = LATER) -> set[str]:
    findings = patient.findings(now, ENVIRONMENT)
    assert CANARY not in repr(findings)
    return {finding.code for finding in findings if finding.code.startswith("alerts")}


def test_what_was_sent_or_waits_for_less_than_an_hour_is_well(patient: Patient) -> None:
    rows = [delivery("a", "sent"), delivery("b", "waiting", at=NOW)]
    assert codes(told(patient, [alert("a"), alert("b")], rows), NOW + HOUR) == {"alerts"}


def test_a_delivery_that_waits_for_more_than_an_hour_is_bad(patient: Patient) -> None:
    rows = [delivery("a", "waiting", at=NOW - HOUR, error="timeout: no answer"), delivery("b", "waiting", at=NOW)]
    found = told(patient, [alert("a"), alert("b")], rows).found("alerts_waiting", NOW + HOUR, ENVIRONMENT)
    assert (found.level, found.value) == ("bad", 1)
    assert found.what.endswith("the newest, entry to slack after 3 attempts, 2026-11-29 11:00 UTC: timeout: no answer")
    assert "valleywatch alerts retry" in found.remedy


def test_what_waits_and_was_never_tried_is_untried(patient: Patient) -> None:
    rows = [delivery("a", "waiting", first_attempt_us=None, attempts=0)]
    assert codes(told(patient, [alert("a", written_at=NOW - HOUR)], rows)) == {"alerts", "alerts_untried"}


def test_what_was_given_up_is_bad_for_a_week_or_until_somebody_has_seen_it(patient: Patient) -> None:
    keys = ("new", "newer", "seen", "old")
    rows = [
        delivery("new", "dead", at=NOW - HOUR, error="status: 404"), delivery("newer", "dead", error="status: 410"),
        delivery("seen", "dead"), delivery("old", "dead", at=NOW - timedelta(days=8)),
    ]  # fmt: skip
    told(patient, [alert(key) for key in keys], rows, "seen")
    found = patient.found("alerts_dead", LATER, ENVIRONMENT)
    assert (found.level, found.value) == ("bad", 2)
    assert found.what.endswith("2026-11-29 12:00 UTC: status: 410")
    assert codes(patient, NOW + timedelta(days=8)) == {"alerts"}


def test_an_alert_that_no_channel_was_given_is_bad_unless_none_takes_it(patient: Patient) -> None:
    told(patient, [alert("a", written_at=NOW - 2 * HOUR), alert("b", written_at=NOW)], [])
    assert codes(patient, LATER - timedelta(minutes=1)) == {"alerts"}
    found = patient.found("alerts_untried", LATER, ENVIRONMENT)
    assert (found.level, found.value) == ("bad", 2)
    assert "the first is entry of 2026-11-29 10:00 UTC" in found.what
    silence = '\n[[silences]]\ndeployment = "*"\nreason = "work"\nstarts_at = 2026-11-29T09:00:00Z\nends_at = '
    for other in ('deployments = ["other-*"]', 'events = ["stale"]', f"{silence}2026-11-29T12:30:00Z\n"):
        patient.configure(f"{SOURCE}{PRICE}{SLACK}{other}\n")
        assert codes(patient) == {"alerts"}
    patient.configure(SOURCE + PRICE)
    assert codes(patient) == {"alerts"}


def test_what_waits_for_a_channel_that_is_no_more_is_nobodys(patient: Patient) -> None:
    rows = [delivery("a", "dead"), delivery("b", "waiting", at=NOW - HOUR)]
    told(patient, [alert("a"), alert("b")], rows)
    patient.configure(SOURCE + PRICE + SLACK.replace("url_env", 'name = "new"\nurl_env'))
    assert codes(patient, NOW + timedelta(minutes=59)) == {"alerts"}


def test_variables_that_channels_name_are_looked_for_and_never_shown(patient: Patient) -> None:
    assert patient.found("channels_none").level == "ok"
    patient.configure(SOURCE + PRICE + SLACK + SIGNED)
    findings = patient.findings(LATER, ENVIRONMENT | {"HOOK_URL": ""})
    missing = [finding for finding in findings if finding.code == "channel_variable_unset"]
    assert [(finding.level, finding.value) for finding in missing] == [("warn", "HOOK_URL"), ("warn", "HOOK_KEY")]
    assert "the channel hook takes HOOK_URL from the environment" in missing[0].what
    complete = patient.found("channels", LATER, {"SLACK_URL": CANARY, "HOOK_URL": CANARY, "HOOK_KEY": CANARY})
    assert (complete.level, complete.value) == ("ok", 2)


def test_the_salt_of_hashed_ids_is_looked_for_and_never_shown(patient: Patient) -> None:
    assert not {finding.code for finding in patient.findings(LATER, {})} & {"salt", "salt_unusable"}
    patient.configure(f'{SOURCE}{PRICE}\n[privacy]\nhash = ["session_id"]\nsalt_env = "SALT"\n')
    for environment, problem in (
        ({}, "SALT (salt_env) is not set"),
        ({"SALT": CANARY[:5]}, "has 5 bytes"),
        ({"SALT": f"{CANARY}\n"}, "ends with white space"),
    ):
        found = patient.found("salt_unusable", LATER, environment)
        assert (found.level, found.value) == ("warn", "SALT")
        assert problem in found.what
        assert CANARY[:5] not in str(found)
    assert patient.found("salt", LATER, {"SALT": CANARY}).level == "ok"


def test_the_command_prints_no_value_of_a_variable(
    patient: Patient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SLACK_URL", CANARY)
    told(patient, [alert("a")], [delivery("a", "dead", error="status: 404")])
    for options in ([], ["--json"]):
        patient.valleywatch("doctor", *options)
        printed = capsys.readouterr()
        assert "secret-canary" not in printed.out + printed.err
