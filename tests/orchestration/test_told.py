"""Rounds of delivery as Dagster's runs make them: after each day, when something is due, after a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from pipelines.cadence import ScheduleSettings
from pipelines.definitions import build_defs
from pipelines.resources import Workplace
from tests.conftest import REPO
from tests.delivery.conftest import CANARY
from tests.delivery.desk import HOUR, NOW, Desk, entry
from tests.delivery.loopback import LOOPBACK, Receiver, Reply, receiver
from tests.orchestration.jobs import execute, marts_break_on
from tests.place import PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

WEBHOOK = '\n[[alerts]]\nkind = "webhook"\nurl_env = "VALLEYWATCH_TEST_URL"\nallow = ["127.0.0.1"]\n'
DAY = NOW.date() - timedelta(days=1)


@pytest.fixture
def instance(tmp_path: Path) -> Iterator[dg.DagsterInstance]:
    with dg.DagsterInstance.local_temp(str(tmp_path)) as made:
        yield made


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Iterator[Receiver]:
    with receiver() as found:
        monkeypatch.setenv("VALLEYWATCH_TEST_URL", f"http://{LOOPBACK}:{found.port}/hook")
        yield found


def kinds(found: Receiver) -> list[str]:
    return [alert["kind"] for request in found.seen for alert in json.loads(request.body)["alerts"]]


def definitions(place: Place, now: datetime = NOW) -> dg.Definitions:
    return build_defs(Workplace(config_path=str(place.config), fixed_now=now.isoformat()), ScheduleSettings())


def sensed(place: Place, instance: dg.DagsterInstance) -> dg.RunRequest | str | None:
    """Return the run that the sensor asks for, or why it asks for none."""
    made = definitions(place)
    with dg.build_sensor_context(instance=instance, definitions=made, resources=made.resources) as context:
        found = made.resolve_sensor_def("alerts_due").evaluate_tick(context)
    return found.run_requests[0] if found.run_requests else found.skip_message


def due(place: Place) -> Place:
    """A place with an alert that nobody was told."""
    Desk(place, WEBHOOK).write(entry())
    with place.warehouse.writer() as writer:
        writer.publish()
    return place


def test_the_sensor_asks_for_a_round_while_there_is_something_to_tell(
    place: Place, instance: dg.DagsterInstance, told: Receiver
) -> None:
    assert sensed(place, instance) == "no alert is due, or no channel is configured"
    asked = sensed(due(place), instance)
    assert isinstance(asked, dg.RunRequest)
    assert asked.partition_key == "2026-11-29"
    assert asked.tags["valleywatch/why"] == "1 alerts are due at webhook"
    job = definitions(place).resolve_job_def("tell")
    result = job.execute_in_process(instance=instance, partition_key=asked.partition_key)
    (made,) = result.asset_materializations_for_node("deliver_alerts")
    assert {name: value.value for name, value in made.metadata.items() if isinstance(value.value, int)} == {
        "channels": 1, "recorded": 0, "delivered": 1, "waiting": 0, "given_up": 0,
    }  # fmt: skip
    assert kinds(told) == ["entry"]
    assert sensed(place, instance) == "no alert is due, or no channel is configured"


def test_a_channel_without_its_variable_is_told_by_the_sensor_and_not_by_a_run_each_minute(
    place: Place, instance: dg.DagsterInstance, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("VALLEYWATCH_TEST_URL", raising=False)
    said = sensed(due(place), instance)
    assert isinstance(said, str)
    assert "the variable VALLEYWATCH_TEST_URL (url_env) is not set" in said


@pytest.mark.parametrize("job", ["daily", "tell"])
def test_the_sensor_leaves_it_to_a_run_that_is_at_work(place: Place, instance: dg.DagsterInstance, job: str) -> None:
    due(place)
    instance.create_run_for_job(definitions(place).resolve_job_def(job), status=dg.DagsterRunStatus.STARTED)
    assert sensed(place, instance) == "a run is at work or waits: a round of delivery follows it"


def in_valley(place: Place) -> None:
    rows = busy_hours(n_hours=8, per_hour=60, law_of_a_valley=True)
    place.write("a.jsonl", [request(row.pop("number"), **row) for row in rows])


def test_a_run_of_the_job_tells_of_what_it_found(place: Place, told: Receiver) -> None:
    place.configure(SOURCE + PRICE + WEBHOOK)
    in_valley(place)
    assert execute(place, DAY, DAY).success
    assert kinds(told) == ["entry"]


def test_a_failed_run_is_followed_by_a_round_that_says_why(
    place: Place, instance: dg.DagsterInstance, told: Receiver, monkeypatch: pytest.MonkeyPatch
) -> None:
    place.configure(SOURCE + PRICE + WEBHOOK)
    place.write("a.jsonl", [request(1)])
    marts_break_on(monkeypatch, DAY)
    failed = execute(place, DAY, DAY)
    assert not failed.success
    assert kinds(told) == []
    made = definitions(place)
    sensor = made.resolve_sensor_def("failed_days")
    run = instance.create_run_for_job(made.resolve_job_def("daily"), status=dg.DagsterRunStatus.FAILURE)
    context = dg.build_run_status_sensor_context(
        sensor_name="failed_days",
        dagster_instance=instance,
        dagster_run=run,
        dagster_event=failed.filter_events(lambda event: event.is_run_failure)[0],
        resources=made.resources,
    ).for_run_failure()
    asked = sensor(context)
    assert isinstance(asked, dg.RunRequest)
    job = made.resolve_job_def("tell")
    assert job.execute_in_process(instance=instance, partition_key=str(asked.partition_key)).success
    assert kinds(told) == ["data_blocked"]


def test_a_secret_is_in_no_output_table_file_or_history(tmp_path: Path) -> None:
    """A6: through a whole run whose channel echoes what it was sent, and refuses it."""
    place, home = Place(tmp_path / "place"), tmp_path / "home"
    home.mkdir()
    (home / "dagster.yaml").write_bytes((REPO / "dagster_home" / "dagster.yaml").read_bytes())
    Desk(place, WEBHOOK + 'secret_env = "VALLEYWATCH_TEST_SECRET"\n[alerting]\npatience_s = 0\n').write(
        entry(hour_index=HOUR + int((datetime.now(UTC) - NOW) / timedelta(hours=1)) - 3)
    )
    place.write("a.jsonl", [request(1)])
    with receiver(Reply(500, f"no such hook /{CANARY} signed {CANARY}".encode())) as found:
        environment = {
            "VALLEYWATCH_TEST_URL": f"http://{LOOPBACK}:{found.port}/{CANARY}",
            "VALLEYWATCH_TEST_SECRET": CANARY,
            "DAGSTER_HOME": str(home),
            "PYTHONPATH": str(REPO),
        }
        said = b""
        for command in (["run"], ["alerts", "send"], ["alerts", "test"], ["alerts", "--json"], ["doctor"]):
            arguments = [sys.executable, "-P", "-m", "pipelines", *command, "--config", str(place.config)]
            done = subprocess.run(arguments, env=os.environ | environment, capture_output=True, timeout=100)
            said += done.stdout + done.stderr
    assert found.seen
    assert b"500" in said
    assert CANARY.encode() not in said
    files = [path for folder in (place.folder, home) for path in folder.rglob("*") if path.is_file()]
    assert len(files) > 10
    assert [path for path in files if CANARY.encode() in path.read_bytes()] == []
