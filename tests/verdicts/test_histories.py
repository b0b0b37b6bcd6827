"""Histories of several days through the job's own judging: the same hours give the same episodes, judged in any order.

One day is measured once; its rows, with other traffic in them, make the days of a history.
"""

from __future__ import annotations

import random
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import duckdb
import pytest

from pipelines.alerts.record import judge_day
from pipelines.settings import load_settings
from tests.place import NOW, PRICE, SOURCE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

DAY = 20785
"""2026-11-28 in whole days since 1970-01-01: the measured day, and the first of each history."""
N_DAYS = 3
LENGTH = 20_000
HALF_PRICE = PRICE.replace("cached_per_mtok = 0.1", "cached_per_mtok = 0.5")
"""On the engine of a valley the index is then .965 at a hit rate of .25 and 1.46 at .9."""


@dataclass(frozen=True)
class Traffic:
    """An hour of requests of one length; how many there are, and what share of them reports its cached tokens."""

    hit_rate: float
    n_requests: int = 100
    reported: float = 1.0

    @property
    def columns(self) -> dict[str, int]:
        n, cached = round(self.n_requests * self.reported), int(LENGTH * self.hit_rate)
        miss = LENGTH - cached
        return {
            "n_requests": self.n_requests, "n_reported": n, "n_rated": n, "reported_input_tokens": n * LENGTH,
            "cached_tokens": n * cached, "miss_tokens": n * miss, "sum_miss_cached": n * miss * cached,
            "sum_miss_sq": n * miss**2, "sum_input_sq": n * LENGTH**2,
        }  # fmt: skip


IN, DEEP, OUT = Traffic(0.25), Traffic(0.3), Traffic(0.9)
QUIET, MUTE = Traffic(0.25, n_requests=29), Traffic(0.25, reported=0.79)
History = dict[int, Traffic]
"""Traffic by the hour since the first day's midnight; an hour that is not there had none."""


@dataclass(frozen=True)
class Warehouse:
    """A place whose marts are written by hand, judged through the job's own function."""

    place: Place

    def lay(self, history: History, *, distrusted: tuple[int, ...] = ()) -> None:
        """Replace the traffic of all days; the curve is the measured one, on some days without trust in it."""
        with duckdb.connect(self.place.warehouse.folder / "warehouse.duckdb") as connection:
            connection.execute("delete from mart.hourly_hit_rate")
            rows = [traffic.columns | {"hour_index": DAY * 24 + at} for at, traffic in sorted(history.items())]
            changed = ", ".join(f"laid.{name} as {name}" for name in rows[0])
            values = ", ".join(str(tuple(row.values())) for row in rows)
            connection.execute(
                f"insert into mart.hourly_hit_rate select one_hour.* replace ({changed}) "
                f"from one_hour, (values {values}) as laid({', '.join(rows[0])})"
            )
            for table, kept in (("throughput_curve", "one_curve"), ("curve_draws", "one_curves_draws")):
                connection.execute(f"delete from mart.{table}")
                for day in range(DAY, DAY + N_DAYS):
                    connection.execute(f"insert into mart.{table} select * replace ({day} as day_index) from {kept}")
            for day in distrusted:
                connection.execute(
                    "update mart.throughput_curve set trustworthy = false, reasons = 'poor_fit' "
                    f"where day_index = {DAY + day}"
                )

    def judge(self, *days: int, config: str = SOURCE + HALF_PRICE) -> None:
        """Judge these days one after the other, as a run does that found them all to do: they are marked before."""
        self.place.configure(config)
        settings = load_settings(self.place.config)
        with self.place.warehouse.writer() as writer:
            marks = [{"mart": "valley_status", "hour_index": (DAY + day) * 24} for day in days]
            writer.insert_rows("ops.dirty_hours", marks)
            for day in days:
                judge_day(writer, DAY + day, settings, NOW)

    def ask(self, query: str) -> list[tuple[Any, ...]]:
        with duckdb.connect(self.place.warehouse.folder / "warehouse.duckdb", read_only=True) as connection:
            return connection.execute(query).fetchall()

    @property
    def verdicts(self) -> tuple[list[tuple[Any, ...]], ...]:
        """All states and episodes."""
        return tuple(self.ask(f"from mart.{table} order by all") for table in ("valley_status", "valley_episodes"))

    @property
    def episodes(self) -> list[tuple[Any, ...]]:
        """Entered and left, in hours since the first midnight; hours and held hours."""
        return self.ask(
            f"select entered_hour_index - {DAY * 24}, left_hour_index - {DAY * 24}, n_hours, n_held_hours "
            "from mart.valley_episodes order by 1"
        )

    @property
    def alerts(self) -> list[tuple[Any, ...]]:
        """Kind and hour, in the order of hours."""
        return self.ask(f"select kind, hour_index - {DAY * 24} from ops.alert_outbox order by hour_index, kind")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse with one measured day, whose rows are set aside and whose marts and verdicts are emptied."""
    place = Place(tmp_path_factory.mktemp("measured"))
    place.write("a.jsonl", (request(**row) for row in busy_hours(n_hours=5, per_hour=150, law_of_a_valley=True)))
    place.settle()
    with duckdb.connect(place.warehouse.folder / "warehouse.duckdb") as connection:
        connection.execute("create table one_hour as from mart.hourly_hit_rate limit 1")
        connection.execute(f"create table one_curve as from mart.throughput_curve where day_index = {DAY}")
        connection.execute(f"create table one_curves_draws as from mart.curve_draws where day_index = {DAY}")
        for table in ("mart.busy_periods", "mart.valley_status", "mart.valley_episodes", "ops.alert_outbox",
                      "ops.dirty_days", "ops.dirty_hours"):  # fmt: skip
            connection.execute(f"delete from {table}")
    return place.folder


@pytest.fixture
def empty(measured: Path, tmp_path: Path) -> Any:
    """Makes warehouses of their own."""

    def make(name: str = "one") -> Warehouse:
        shutil.copytree(measured, tmp_path / name, symlinks=True)
        return Warehouse(Place(tmp_path / name, SOURCE + HALF_PRICE))

    return make


def some_history(seed: int) -> History:
    """Stretches of the same traffic, of a few hours each, over all days."""
    dice = random.Random(seed)
    history: History = {}
    at = 0
    while at < N_DAYS * 24:
        kind = dice.choice([IN, IN, DEEP, OUT, OUT, QUIET, MUTE, None])
        for _ in range(dice.randint(1, 6)):
            if kind is not None and at < N_DAYS * 24:
                history[at] = kind
            at += 1
    return history


ALL = tuple(range(N_DAYS))


def test_the_hours_that_are_laid_are_what_they_are_called(empty: Any) -> None:
    one = empty()
    one.lay({0: IN, 1: DEEP, 2: OUT, 3: QUIET, 4: MUTE})
    one.judge(0)
    found = one.ask("select p_in_valley, revenue_index, reasons from mart.valley_status order by hour_index")
    assert [p for p, *_ in found[:3]] == pytest.approx([1, 1, 0], abs=1e-3)
    assert [(p, reasons) for p, _, reasons in found[3:]] == [(None, "low_traffic"), (None, "low_coverage")]


@pytest.mark.parametrize(
    "between",
    [
        pytest.param({3: QUIET, 4: QUIET}, id="too little traffic"),
        pytest.param({3: MUTE, 4: MUTE}, id="low coverage"),
        pytest.param({}, id="no traffic"),
    ],
)
def test_hours_that_cannot_tell_are_held_and_neither_deepen_an_episode_nor_cost_it(
    empty: Any, between: History
) -> None:
    plain, held = empty("plain"), empty("held")
    rest = {0: IN, 1: IN, 2: OUT, 5: OUT, 6: OUT, 7: OUT}
    plain.lay({at: traffic for at, traffic in rest.items() if at not in between})
    held.lay(rest | between)
    for one in (plain, held):
        one.judge(0)
        assert one.episodes == [(1, 6, 3 + len(between) * (one is held), len(between) * (one is held))]
    added_up = "select peak_depth, lost_total, currency from mart.valley_episodes"
    assert held.ask(added_up) == plain.ask(added_up)


def test_a_day_without_a_trusted_curve_or_a_price_is_held(empty: Any) -> None:
    for name, gap in (("curve", {"distrusted": (1,)}), ("price", {})):
        one = empty(name)
        one.lay(dict.fromkeys(range(20, 24), IN) | dict.fromkeys(range(24, 52), OUT), **gap)
        until = HALF_PRICE.replace("2026-01-01", "2026-01-01\neffective_to = 2026-11-29")
        unpriced = SOURCE + until + HALF_PRICE.replace("2026-01-01", "2026-11-30")
        one.judge(*ALL, config=SOURCE + HALF_PRICE if gap else unpriced)
        assert one.episodes == [(21, 50, 29, 24)], name
        reasons = one.ask(f"select distinct reasons from mart.valley_status where hour_index // 24 = {DAY + 1}")
        assert reasons == [("poor_fit",) if gap else ("no_price",)]
        assert one.ask(
            "select lost_total = fsum(lost_per_hour) and not bool_and(lost_per_hour is null) "
            "from mart.valley_episodes, mart.valley_status where is_in_valley and not is_held group by lost_total"
        ) == [(True,)]


@pytest.mark.parametrize("seed", range(3))
def test_days_judged_in_any_order_and_again_give_the_same(empty: Any, seed: int) -> None:
    history = some_history(seed)
    straight, mixed = empty("straight"), empty("mixed")
    straight.lay(history)
    straight.judge(*ALL)
    verdicts = straight.verdicts
    assert verdicts[1], "there is an episode to speak of"
    straight.judge(*ALL)
    assert straight.verdicts == verdicts
    mixed.lay(history)
    order = [*ALL, *ALL]
    random.Random(seed).shuffle(order)
    mixed.judge(*order)
    assert mixed.verdicts == verdicts


@pytest.mark.parametrize("seed", range(3))
def test_late_data_of_an_old_hour_gives_what_a_fresh_run_gives(empty: Any, seed: int) -> None:
    dice = random.Random(seed)
    before, after = some_history(seed), some_history(seed)
    late, fresh = empty("late"), empty("fresh")
    for day in (1, 0, 2):
        for at in dice.sample(range(day * 24, day * 24 + 24), 5):
            after[at] = dice.choice([IN, DEEP, OUT, QUIET])
    late.lay(before)
    late.judge(*ALL)
    late.lay(after)
    late.judge(1, 0, 2)
    fresh.lay(after)
    fresh.judge(*ALL)
    assert late.verdicts == fresh.verdicts
    open_entries = late.ask(
        "select dedup_key from ops.alert_outbox where kind = 'entry' except "
        "select dedup_key from ops.alert_outbox where kind = 'retracted' order by 1"
    )
    assert open_entries == late.ask("select dedup_key from mart.valley_episodes order by 1")


def test_a_traffic_that_is_withdrawn_takes_its_episode_along(empty: Any) -> None:
    one = empty()
    one.lay({0: IN, 1: IN, 26: OUT})
    one.judge(*ALL)
    assert one.episodes == [(1, None, 2, 0)]
    one.lay({26: OUT})
    one.judge(0)
    assert one.episodes == []
    assert one.alerts == [("entry", 1), ("retracted", 1)]


def test_a_day_without_traffic_leaves_an_episode_as_it_is(empty: Any) -> None:
    one = empty()
    one.lay({0: IN, 1: IN})
    one.judge(*ALL)
    assert one.episodes == [(1, None, 1, 0)]
    assert one.alerts == [("entry", 1)]


def test_an_episode_over_midnights_is_one(empty: Any) -> None:
    one = empty()
    one.lay(dict.fromkeys(range(22, 60), IN) | dict.fromkeys(range(60, 70), OUT))
    one.judge(*ALL)
    assert one.episodes == [(23, 62, 39, 0)]
    one.judge(2)
    assert one.episodes == [(23, 62, 39, 0)]
    assert one.alerts == [("entry", 23), ("exit", 62)]


def test_an_episode_left_at_midnight_stays_one_and_whole_when_the_next_day_is_judged_again(empty: Any) -> None:
    one = empty()
    one.lay(dict.fromkeys(range(18, 22), IN) | dict.fromkeys(range(22, 30), OUT))
    one.judge(*ALL)
    assert one.episodes == [(19, 24, 5, 0)]
    verdicts = one.verdicts
    one.judge(1)
    assert one.verdicts == verdicts
    one.lay(dict.fromkeys(range(18, 22), IN) | {22: OUT, 23: OUT, 24: IN})
    one.judge(1)
    assert one.episodes == [(19, None, 6, 0)]


def test_days_that_are_judged_again_one_after_the_other_call_no_alert_halfway(empty: Any) -> None:
    one = empty()
    inside, outside = dict.fromkeys(range(72), IN), dict.fromkeys(range(72), OUT)
    one.lay(inside)
    one.judge(*ALL)
    assert one.alerts == [("entry", 1)]
    one.lay(outside)
    one.judge(*ALL)
    assert one.episodes == []
    # Halfway the first day was outside and the second still inside: an episode that never was.
    assert one.alerts == [("entry", 1), ("retracted", 1)]


def test_an_alert_that_waited_is_recorded_with_the_day_it_waited_for(empty: Any) -> None:
    one = empty()
    one.lay(dict.fromkeys(range(72), OUT))
    one.judge(*ALL)
    one.lay(dict.fromkeys(range(30), OUT) | dict.fromkeys(range(30, 50), IN) | dict.fromkeys(range(50, 72), OUT))
    one.judge(*ALL)
    assert one.episodes == [(31, 52, 21, 0)]
    assert one.alerts == [("entry", 31), ("exit", 52)]


def test_a_day_that_waits_without_ever_having_been_judged_holds_no_alert_back(empty: Any) -> None:
    one = empty()
    one.lay(dict.fromkeys(range(10), IN))
    with one.place.warehouse.writer() as writer:
        writer.insert_rows("ops.dirty_days", [{"day_index": DAY + day} for day in (0, 1, 2)])
    one.judge(0)
    assert one.alerts == [("entry", 1)]


def test_another_version_of_the_policy_is_recorded_with_its_episodes_and_told_as_such(empty: Any) -> None:
    one = empty()
    one.lay(dict.fromkeys(range(5), IN) | dict.fromkeys(range(5, 30), OUT) | dict.fromkeys(range(30, 40), IN))
    one.judge(*ALL)
    versions = "select policy_version, count(*) from mart.valley_episodes group by all order by all"
    assert one.ask(versions) == [(1, 2)]
    second = SOURCE + HALF_PRICE + "[policy]\nversion = 2\n"
    one.judge(1, config=second)
    assert one.ask(versions) == [(1, 1), (2, 1)]
    one.judge(0, config=second)
    assert one.ask(versions) == [(2, 2)]
    assert one.alerts == [
        ("entry", 1), ("entry", 1), ("retracted", 1), ("exit", 7), ("exit", 7),
        ("entry", 31), ("entry", 31), ("retracted", 31),
    ]  # fmt: skip
    messages = one.ask("select message from ops.alert_outbox where kind = 'retracted' order by hour_index")
    assert [message for (message,) in messages] == [
        f"pool is in the valley since {when} under another version of the policy: see that episode"
        for when in ("2026-11-28T01:00Z", "2026-11-29T07:00Z")
    ]
