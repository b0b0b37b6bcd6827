"""What becomes of an error in a step: one that may pass is tried again, any other fails at once in its own words."""

from __future__ import annotations

from datetime import date
from typing import Any

import dagster as dg
import pytest

from pipelines.assets import core, step
from pipelines.errors import (
    BusyError,
    ClusterError,
    DiskFullError,
    NothingYetError,
    UnreachableError,
    UsageError,
    ValleywatchError,
)
from tests.orchestration.jobs import execute, failures, marts_break_on
from tests.place import Place, request

DAY = date(2026, 11, 28)


@pytest.fixture
def patched(place: Place, monkeypatch: pytest.MonkeyPatch) -> Place:
    """A place with a request; tries follow at once, contracts are kept."""
    place.write("a.jsonl", [request(1)])
    marts_break_on(monkeypatch)
    monkeypatch.setattr(step, "DELAYS", dg.RetryPolicy(delay=0))
    return place


def ingest_fails(monkeypatch: pytest.MonkeyPatch, error: ValleywatchError, times: int) -> list[int]:
    """Have the first tries to read the sources fail; return what counts them."""
    tries: list[int] = []
    really = core.ingest_sources

    def fail(*arguments: Any) -> Any:
        tries.append(len(tries) + 1)
        if len(tries) <= times:
            raise error
        return really(*arguments)

    monkeypatch.setattr(core, "ingest_sources", fail)
    return tries


@pytest.mark.parametrize("kind", [BusyError, DiskFullError, UnreachableError, NothingYetError, ClusterError])
def test_a_passing_fault_is_tried_again_until_it_has_passed(
    patched: Place, monkeypatch: pytest.MonkeyPatch, kind: type[ValleywatchError]
) -> None:
    tries = ingest_fails(monkeypatch, kind("not now"), times=2)
    result = execute(patched, DAY, DAY, n_retries=3)
    assert result.success
    assert tries == [1, 2, 3]
    assert patched.rows("select n_requests from hourly_hit_rate") == [{"n_requests": 1}]


def test_a_fault_that_does_not_pass_ends_in_its_own_words(patched: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    tries = ingest_fails(monkeypatch, BusyError("another process has it"), times=9)
    result = execute(patched, DAY, DAY, n_retries=2)
    assert tries == [1, 2, 3]
    assert failures(result) == {"read_sources": "another process has it"}


@pytest.mark.parametrize("error", [UsageError("prices.1 is wrong"), ValleywatchError("it is damaged")])
def test_any_other_error_is_not_tried_again(
    patched: Place, monkeypatch: pytest.MonkeyPatch, error: ValleywatchError
) -> None:
    tries = ingest_fails(monkeypatch, error, times=9)
    result = execute(patched, DAY, DAY, n_retries=4)
    assert tries == [1]
    assert failures(result) == {"read_sources": str(error)}
    (failed,) = [event for event in result.all_events if event.is_step_failure]
    # The line that raised it inside is nobody's business in the web interface: no chain of our own errors.
    assert failed.step_failure_data.error.cause is None
    assert failed.step_failure_data.error.context is None


def test_the_command_does_not_wait_for_a_fault_to_pass(
    patched: Place, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tries = ingest_fails(monkeypatch, BusyError("another process has it"), times=9)
    assert patched.valleywatch("run") == 75
    assert tries == [1]
    said = capsys.readouterr().err
    assert "another process has it" in said
    assert "Traceback" not in said


def test_delays_grow_and_no_two_are_alike() -> None:
    delays = [[step.DELAYS.calculate_delay(attempt) for _ in range(50)] for attempt in (1, 2, 3, 4)]
    for attempt, drawn in enumerate(delays, 1):
        middle = (2**attempt - 1) * 15
        assert all(middle - 15 <= delay <= middle + 15 for delay in drawn)
        assert len(set(drawn)) == 50
