"""Local times become the one instant they mean, or are refused by name; the machine's own zone changes nothing."""

from __future__ import annotations

import time
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from pipelines.times import to_us
from tests.place import PRICE, Place, request

pytestmark = pytest.mark.jobs

STEP = timedelta(minutes=15)
DAYS = {
    "America/New_York": ("2026-03-08", "2026-11-01"),
    "Europe/Berlin": ("2026-03-29", "2026-10-25"),
    "Australia/Lord_Howe": ("2026-04-05", "2026-10-04"),
    "Asia/Kolkata": ("2026-03-29",),
    "Pacific/Apia": ("2026-04-05",),
    "Africa/Casablanca": ("2026-02-15", "2026-03-22"),
}
"""Days on which clocks change, by half an hour on Lord Howe; days on which they do not where they never do."""


def source(zone: str, number: int) -> str:
    return f'[[sources]]\nname = "{number}"\nformat = "canonical"\npath = "logs/{number}.jsonl"\ntimezone = "{zone}"\n'


def instants(zone: str, day: str) -> dict[str, list[datetime]]:
    """What local clocks show on a day, every quarter of an hour, with the instants at which they show it."""
    shown = defaultdict(list)
    noon = datetime.fromisoformat(f"{day}T12:00:00Z")
    for steps in range(-300, 300):
        at = noon + steps * STEP
        shown[at.astimezone(ZoneInfo(zone)).strftime("%Y-%m-%dT%H:%M:%S")].append(at)
    midnight = datetime.fromisoformat(f"{day}T00:00:00")
    texts = [(midnight + steps * STEP).isoformat() for steps in range(96)]
    return {text: shown[text] for text in texts}


def expected(zone: str, day: str) -> list[str | int]:
    found: list[str | int] = []
    for at in instants(zone, day).values():
        found.append(to_us(at[0]) if len(at) == 1 else "timestamp_ambiguous" if at else "timestamp_never_occurred")
    return found


def test_the_days_hold_times_that_occur_twice_and_never() -> None:
    found = [fate for zone, days in DAYS.items() for day in days for fate in expected(zone, day)]
    assert found.count("timestamp_ambiguous") == 4 + 4 + 2 + 4
    assert found.count("timestamp_never_occurred") == 4 + 4 + 2 + 4


@pytest.mark.parametrize(("zone", "day"), [(zone, day) for zone, days in DAYS.items() for day in days])
def test_a_local_time_is_its_one_instant_or_refused_by_name(place: Place, zone: str, day: str) -> None:
    place.configure(source(zone, 0) + PRICE)
    texts = list(instants(zone, day))
    place.write("0.jsonl", [request(number, timestamp=text) for number, text in enumerate(texts)])
    place.ingest()
    fates: dict[int, str | int] = {
        row["source_line"]: row["fate"]
        for row in place.rows(
            "select source_line, arrived_us as fate from requests"
        ) + place.rows("select source_line, reason as fate from quarantine")
    }  # fmt: skip
    assert [fates[number] for number in range(1, len(texts) + 1)] == expected(zone, day)


@pytest.mark.parametrize(
    "machines", [pytest.param(list(DAYS)[:2], id="two"), pytest.param(list(DAYS), id="six", marks=pytest.mark.slow)]
)
def test_the_zone_of_the_machine_changes_nothing(tmp_path_factory: pytest.TempPathFactory, machines: list[str]) -> None:
    found = []
    with pytest.MonkeyPatch.context() as patch:
        for machine in machines:
            patch.setenv("TZ", machine)
            time.tzset()
            sources = "".join(map(source, machines, range(len(machines))))
            place = Place(tmp_path_factory.mktemp("zone"), sources + PRICE)
            for number, zone in enumerate(machines):
                texts = [text for day in DAYS[zone] for text in instants(zone, day)]
                place.write(f"{number}.jsonl", [request(f"{number}-{n}", timestamp=at) for n, at in enumerate(texts)])
            place.settle()
            found.append(place.views(without=("source_file", "path")))
    time.tzset()
    assert found == [found[0]] * len(machines)


@pytest.mark.parametrize("zone", ["Europe/Berlim", "localtime", "+02:00", "", "../../etc/passwd"])
def test_what_is_no_zone_is_refused_by_name(place: Place, zone: str, capsys: pytest.CaptureFixture[str]) -> None:
    place.configure(source(zone, 0))
    assert place.valleywatch("ingest") == 2
    told = capsys.readouterr().err
    assert "sources.1.timezone" in told
    if zone == "Europe/Berlim":
        assert "did you mean 'Europe/Berlin'?" in told


def test_the_command_line_declares_a_zone_too(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    log = str(place.write("a.jsonl", [request(1, timestamp="2026-11-28T11:15:00")]))
    assert place.valleywatch("ingest", log, "--format", "canonical", "--timezone", "Europe/Berlim") == 2
    assert "timezone: must be a zone of the IANA database" in capsys.readouterr().err
    assert place.valleywatch("ingest", log, "--format", "canonical", "--timezone", "Europe/Berlin") == 0
    with place.warehouse.writer() as writer:
        writer.publish()
    assert place.rows("select arrived_us from requests") == [
        {"arrived_us": to_us(datetime(2026, 11, 28, 10, 15, tzinfo=UTC))}
    ]
