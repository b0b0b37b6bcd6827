"""What ticks and the sensor ask for: told by the data, whatever became of earlier ticks and runs."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import dagster as dg
import pytest

from pipelines.cadence import ScheduleSettings
from pipelines.definitions import build_defs
from pipelines.errors import UsageError
from pipelines.resources import Workplace
from pipelines.schedules import MAX_RUNS
from pipelines.settings import load_settings
from pipelines.times import to_day_index
from tests.place import PRICE, SOURCE, Place, request

pytestmark = pytest.mark.jobs

TICK = datetime(2026, 11, 29, 1, 30, tzinfo=UTC)
YESTERDAY, TODAY = date(2026, 11, 28), date(2026, 11, 29)


@pytest.fixture(scope="module")
def history(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dg.DagsterInstance]:
    """A schedule opens its history by reference, which one in memory has none of."""
    with dg.DagsterInstance.local_temp(str(tmp_path_factory.mktemp("home"))) as made:
        yield made


@pytest.fixture
def instance(history: dg.DagsterInstance) -> dg.DagsterInstance:
    history.wipe()
    return history


def definitions(place: Place, now: datetime = TICK) -> dg.Definitions:
    workplace = Workplace(config_path=str(place.config), fixed_now=now.isoformat())
    return build_defs(workplace, ScheduleSettings())


def ticked(place: Place, instance: dg.DagsterInstance, tick: datetime = TICK) -> list[str]:
    """Return the days that a tick of the schedule asks for."""
    schedule = definitions(place).resolve_schedule_def("due_days")
    with dg.build_schedule_context(
        instance=instance,
        scheduled_execution_time=tick,
        resources=definitions(place).resources,
        repository_def=definitions(place).get_repository_def(),
    ) as context:
        return [str(asked.partition_key) for asked in schedule.evaluate_tick(context).run_requests or ()]


def sensed(place: Place, instance: dg.DagsterInstance, now: datetime = TICK) -> list[tuple[str, str]]:
    """Return the days that an evaluation of the sensor asks for, with their keys."""
    sensor = definitions(place, now).resolve_sensor_def("late_days")
    with dg.build_sensor_context(
        instance=instance, definitions=definitions(place, now), resources=definitions(place, now).resources
    ) as context:
        found = sensor.evaluate_tick(context).run_requests or ()
    return [(str(asked.partition_key), str(asked.run_key)) for asked in found]


def three_days(place: Place) -> Place:
    """Loaded and published as a run of another day would, none of them done."""
    for day in (25, 26, 27):
        place.write(f"{day}.jsonl", [request(day, timestamp=f"2026-11-{day}T10:00:00Z")])
    place.ingest()
    return place


def unfinished(instance: dg.DagsterInstance, place: Place, day: str, status: dg.DagsterRunStatus) -> None:
    instance.create_run_for_job(
        definitions(place).resolve_job_def("daily"), tags={"dagster/partition": day}, status=status
    )


def test_before_anything_is_published_a_tick_asks_for_its_own_day(place: Place, instance: dg.DagsterInstance) -> None:
    assert ticked(place, instance) == ["2026-11-28"]
    assert sensed(place, instance) == []


def test_days_that_no_tick_was_for_are_asked_for_the_oldest_first(place: Place, instance: dg.DagsterInstance) -> None:
    three_days(place)
    assert ticked(place, instance) == ["2026-11-25", "2026-11-26", "2026-11-27", "2026-11-28"]
    assert [day for day, _ in sensed(place, instance)] == ["2026-11-25", "2026-11-26", "2026-11-27"]
    place.settle()
    assert ticked(place, instance) == ["2026-11-28"]
    assert sensed(place, instance) == []


def test_late_lines_of_a_done_day_are_asked_for_by_the_sensor_with_all_days_that_rest_on_them(
    place: Place, instance: dg.DagsterInstance
) -> None:
    three_days(place).settle()
    place.write("late.jsonl", [request("late", timestamp="2026-11-26T11:00:00Z")])
    place.ingest()
    assert [day for day, _ in sensed(place, instance)] == ["2026-11-26", "2026-11-27"]


def test_one_publication_is_one_key_and_the_next_another(place: Place, instance: dg.DagsterInstance) -> None:
    three_days(place)
    first = sensed(place, instance)
    assert sensed(place, instance, TICK + timedelta(hours=5)) == first
    with place.warehouse.writer() as writer:
        writer.publish()
    assert {key for _, key in first}.isdisjoint(key for _, key in sensed(place, instance))


def test_a_blocked_day_is_tried_once_a_day_whatever_is_published(place: Place, instance: dg.DagsterInstance) -> None:
    three_days(place)
    keys = []
    for now in (TICK, TICK + timedelta(hours=3), TICK + timedelta(days=1)):
        with place.warehouse.writer() as writer:
            finding = {"contract": "requests", "expectation": "x", "severity": "block", "passed": False, "detail": "y"}
            writer.insert_rows("ops.findings", [finding | {"day_index": to_day_index(date(2026, 11, 25))}])
            writer.publish()
        keys.append(dict(sensed(place, instance, now))["2026-11-25"])
    assert keys[0] == keys[1] == "2026-11-25 blocked, tried on 2026-11-29"
    assert keys[2] == "2026-11-25 blocked, tried on 2026-11-30"


def test_days_whose_runs_wait_are_not_asked_for_again(place: Place, instance: dg.DagsterInstance) -> None:
    three_days(place)
    unfinished(instance, place, "2026-11-26", dg.DagsterRunStatus.NOT_STARTED)
    assert ticked(place, instance) == ["2026-11-25", "2026-11-27", "2026-11-28"]
    assert sensed(place, instance) == []
    unfinished(instance, place, "2026-11-28", dg.DagsterRunStatus.STARTED)
    # One that has begun may have read the sources already.
    assert "2026-11-28" in ticked(place, instance)


def test_a_tick_asks_for_so_many_runs_and_always_for_its_own_day(place: Place, instance: dg.DagsterInstance) -> None:
    rows = [request(n, timestamp=f"{date(2026, 9, 1) + timedelta(days=n)}T10:00:00Z") for n in range(3 * MAX_RUNS)]
    place.write("months.jsonl", rows)
    place.ingest()
    assert len(ticked(place, instance)) == len(sensed(place, instance)) == MAX_RUNS
    assert ticked(place, instance)[-1] == "2026-11-28"


def test_days_before_the_first_that_dagster_has_are_left_to_the_command(
    place: Place, instance: dg.DagsterInstance
) -> None:
    place.configure(SOURCE + PRICE + "[schedule]\nfirst_day = 2026-11-27\n")
    three_days(place)
    assert ticked(place, instance) == ["2026-11-27", "2026-11-28"]
    assert [day for day, _ in sensed(place, instance)] == ["2026-11-27"]
    graph = build_defs(Workplace(config_path=str(place.config)), load_settings(place.config).schedule)
    (days,) = {graph.resolve_asset_graph().get(key).partitions_def for key in graph.resolve_all_asset_keys()}
    assert days.get_first_partition_key() == "2026-11-27"


def test_the_running_day_is_the_schedule_s_alone(place: Place, instance: dg.DagsterInstance) -> None:
    place.configure(SOURCE + PRICE + '[schedule]\ncadence = "hourly"\n')
    place.write("a.jsonl", [request(1, timestamp="2026-11-29T00:15:00Z"), request(2, timestamp="2026-11-28T23:15:00Z")])
    place.ingest()
    assert ticked(place, instance, TICK) == ["2026-11-28", "2026-11-29"]
    assert ticked(place, instance, datetime(2026, 11, 29, 0, 10, tzinfo=UTC)) == ["2026-11-28"]
    assert [day for day, _ in sensed(place, instance)] == ["2026-11-28"]
    assert sensed(place, instance, datetime(2026, 11, 29, 0, 10, tzinfo=UTC)) == []


def test_a_snapshot_that_cannot_be_read_does_not_keep_the_day_from_being_done(
    place: Place, instance: dg.DagsterInstance
) -> None:
    three_days(place)
    place.warehouse.snapshot.resolve().chmod(0o600)
    place.warehouse.snapshot.resolve().write_bytes(b"no database" * 1000)
    assert ticked(place, instance) == ["2026-11-28"]
    assert sensed(place, instance) == []


@pytest.mark.parametrize("cron", ["99 1 * * *", "a b c d e"])
def test_a_time_that_is_none_is_refused_where_dagster_loads_it(place: Place, cron: str) -> None:
    with pytest.raises(UsageError, match=r"schedule.cron: .* is no time"):
        build_defs(Workplace(config_path=str(place.config)), ScheduleSettings(cron=cron))


def test_a_misspelt_cadence_is_refused_by_the_configuration(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    place.configure(SOURCE + '[schedule]\ncadence = "minutely"\ncorn = "* * * * *"\n')
    assert place.valleywatch("status") == 2
    said = capsys.readouterr().err
    assert "schedule.cadence" in said
    assert "schedule.corn: unknown key (did you mean 'cron'?)" in said


def test_services_that_run_need_no_switching_on(tmp_path: Path) -> None:
    made = build_defs(Workplace(config_path=str(tmp_path / "x.toml")), ScheduleSettings(cadence="hourly"))
    schedule, sensor = made.resolve_schedule_def("due_days"), made.resolve_sensor_def("late_days")
    assert schedule.default_status is dg.DefaultScheduleStatus.RUNNING
    assert sensor.default_status is dg.DefaultSensorStatus.RUNNING
    assert (schedule.cron_schedule, schedule.execution_timezone) == ("10 * * * *", "UTC")
