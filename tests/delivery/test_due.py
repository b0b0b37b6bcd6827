"""What becomes of an alert before it is sent: age, silences, wishes, and that nothing ends which never began."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from pipelines.delivery.due import Alert, fate
from pipelines.delivery.settings import AlertingSettings, ChannelSettings, SilenceSettings
from pipelines.times import US_PER_HOUR, to_us

NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)
HOUR = to_us(NOW) // US_PER_HOUR
ALERTING = AlertingSettings(max_alert_age_hours=48)
SLACK = ChannelSettings(kind="slack", url_env="URL")
ENTRY = Alert("k", "entry", "trigger", 0, "pool", HOUR - 5, "pool entered the valley", HOUR - 5)
EXIT = replace(ENTRY, kind="exit", action="resolve", opening_status="sent", opened_as="k")
WORSE = replace(EXIT, kind="worsening", action="update", level=1)


def silence(starts: float, ends: float, deployment: str = "*") -> SilenceSettings:
    """A silence from and until so many hours from now."""
    return SilenceSettings(
        deployment=deployment,
        starts_at=NOW + timedelta(hours=starts),
        ends_at=NOW + timedelta(hours=ends),
        reason="new racks",
    )


@pytest.mark.parametrize(
    ("alert", "expected"),
    [
        pytest.param(ENTRY, "send", id="of this morning"),
        pytest.param(replace(ENTRY, hour_index=HOUR - 48), "send", id="as old as may be"),
        pytest.param(replace(ENTRY, hour_index=HOUR - 50), "too_old", id="older"),
        pytest.param(replace(ENTRY, hour_index=HOUR - 24 * 90), "too_old", id="of a backfill"),
        pytest.param(replace(ENTRY, hour_index=HOUR - 50, attempts=3), "send", id="grown old while it was tried"),
        pytest.param(replace(ENTRY, hour_index=HOUR + 1), "send", id="of a clock a little ahead"),
        pytest.param(replace(ENTRY, hour_index=HOUR + 26), "wait", id="of a clock a day ahead"),
        pytest.param(replace(ENTRY, deployment=None, kind="data_blocked"), "send", id="of the whole warehouse"),
        pytest.param(EXIT, "send", id="an end"),
        pytest.param(replace(EXIT, hour_index=HOUR - 500), "send", id="an old end closes what is open"),
        pytest.param(replace(EXIT, opening_status="waiting"), "wait", id="an end before its beginning got through"),
        pytest.param(replace(EXIT, opening_status=None), "wait", id="an end whose beginning was not tried"),
        pytest.param(replace(EXIT, opening_status="too_old"), "unopened", id="an end nobody heard the beginning of"),
        pytest.param(replace(EXIT, opening_status="dead"), "unopened", id="an end of what was given up"),
        pytest.param(WORSE, "send", id="an update"),
        pytest.param(replace(WORSE, opening_status="silenced"), "unopened", id="an update of what was silenced"),
    ],
)
def test_what_is_sent_waits_or_is_settled(alert: Alert, expected: str) -> None:
    assert fate(alert, SLACK, ALERTING, (), NOW) == expected


@pytest.mark.parametrize(
    ("alert", "silences", "expected"),
    [
        pytest.param(ENTRY, [silence(-1, 1)], "wait", id="during maintenance"),
        pytest.param(ENTRY, [silence(-1, 1, "po*")], "wait", id="of these deployments"),
        pytest.param(ENTRY, [silence(-1, 1, "other")], "send", id="of others"),
        pytest.param(ENTRY, [silence(-9, -1)], "send", id="after maintenance it still holds"),
        pytest.param(replace(ENTRY, is_over=True), [silence(-9, -1)], "silenced", id="came and went in it"),
        pytest.param(replace(ENTRY, is_over=True), [silence(-9, 1)], "silenced", id="over while it lasts"),
        pytest.param(replace(ENTRY, is_over=True), [silence(-3, -1)], "send", id="began before it"),
        pytest.param(
            replace(ENTRY, hour_index=HOUR - 90), [silence(-100, -1)], "send", id="as old as the end of its silence"
        ),
        pytest.param(replace(ENTRY, deployment=None), [silence(-1, 1, "po*")], "send", id="the warehouse is no pool"),
        pytest.param(replace(ENTRY, deployment=None), [silence(-1, 1)], "wait", id="all is silent"),
        pytest.param(EXIT, [silence(-1, 1)], "send", id="an end closes a page in silence too"),
        pytest.param(WORSE, [silence(-1, 1)], "wait", id="an update waits"),
    ],
)
def test_a_silence_holds_alerts_back_until_it_ends(
    alert: Alert, silences: list[SilenceSettings], expected: str
) -> None:
    assert fate(alert, SLACK, ALERTING, silences, NOW) == expected


@pytest.mark.parametrize(
    ("wishes", "alert", "expected"),
    [
        ({"deployments": ("glm-*",)}, ENTRY, "unwanted"),
        ({"deployments": ("glm-*", "pool")}, ENTRY, "send"),
        ({"deployments": ("glm-*",)}, replace(ENTRY, deployment=None), "send"),
        ({"events": ("stale",)}, ENTRY, "unwanted"),
        ({"events": ("stale",)}, replace(ENTRY, kind="stale"), "send"),
        ({"events": ("stale",)}, replace(EXIT, opening_status="unwanted"), "unopened"),
        ({"events": ("entry",)}, EXIT, "send"),
    ],
)
def test_a_channel_is_told_what_it_wants(wishes: dict[str, tuple[str, ...]], alert: Alert, expected: str) -> None:
    channel = ChannelSettings(kind="slack", url_env="URL", **wishes)  # type: ignore[arg-type]
    assert fate(alert, channel, ALERTING, (), NOW) == expected


def test_what_was_not_taken_waits_until_its_time() -> None:
    tried = replace(ENTRY, attempts=1, next_attempt_us=to_us(NOW) + 1)
    assert fate(tried, SLACK, ALERTING, (), NOW) == "wait"
    assert fate(tried, SLACK, ALERTING, (), NOW + timedelta(seconds=1)) == "send"


@pytest.mark.parametrize("skew_h", [-24, -2, 2, 24])
def test_a_sender_whose_clock_is_wrong_sends_nothing_that_has_not_happened(skew_h: int) -> None:
    # A9: the hour of the data decides, against whatever the clock says; ahead of it nothing goes out.
    now = NOW + timedelta(hours=skew_h)
    decided = fate(ENTRY, SLACK, ALERTING, (), now)
    assert decided == ("wait" if ENTRY.hour_index - to_us(now) // US_PER_HOUR > 1 else "send")
