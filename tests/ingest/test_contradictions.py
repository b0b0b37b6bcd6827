"""A file that is not what its source says is refused whole, with the evidence and the likely fix; what is one loads."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binom

from pipelines.ingest import FileOutcome
from tests.place import ABSENT, PRICE, SOURCE, Place, request

pytestmark = pytest.mark.jobs

UNIT_S = {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}


def ingested(place: Place, rows: list[dict[str, Any]], declared: str = "") -> FileOutcome:
    place.configure(SOURCE + declared + PRICE)
    place.write("a.jsonl", rows)
    (outcome,) = place.ingest()
    return outcome


def exclusive(n_lines: int, n_over_half: int, **changes: Any) -> list[dict[str, Any]]:
    """Requests of 1,000 tokens, the cached ones left out of the input: more cached than input where over half hits."""
    hits = [700] * n_over_half + [300] * (n_lines - n_over_half)
    return [request(n, input_tokens=1000 - hit, cached_tokens=hit, **changes) for n, hit in enumerate(hits)]


# Inclusive and exclusive counts


def test_an_input_that_leaves_the_cached_tokens_out_is_refused_with_the_evidence_and_read_when_declared(
    place: Place,
) -> None:
    rows = exclusive(90, 30)
    refused = ingested(place, rows)
    assert refused.status == "rejected"
    assert refused.detail is not None
    assert refused.detail.startswith("cached_tokens_exceed_input_tokens: ")
    assert "30 of 90 lines (the first: 1, 2, 3) of deployment pool" in refused.detail
    assert 'input_tokens = "exclusive"' in refused.detail
    assert place.rows("select * from requests") == []
    assert place.rows("select status, reason from ingest_files") == [
        {"status": "rejected", "reason": "cached_tokens_exceed_input_tokens"}
    ]
    assert ingested(place, rows, 'input_tokens = "exclusive"\n').n_loaded == 90
    assert place.rows("select distinct input_tokens from requests") == [{"input_tokens": 1000}]
    assert place.rows("select status, loaded from ingest_files") == [{"status": "loaded", "loaded": 90}]


def test_tokens_written_to_the_cache_are_added_as_well(place: Place) -> None:
    rows = [request(1, input_tokens=9, cached_tokens=17_102, cache_write_tokens=5), request(2, cached_tokens=None)]
    assert ingested(place, rows, 'input_tokens = "exclusive"\n').n_loaded == 2
    assert place.rows("select input_tokens from requests order by request_id") == [
        {"input_tokens": 17_116},
        {"input_tokens": 1000},
    ]


def test_said_to_be_inclusive_it_is_refused_all_the_same(place: Place) -> None:
    refused = ingested(place, exclusive(90, 30), 'input_tokens = "inclusive"\n')
    assert refused.status == "rejected"
    assert "counts hits twice" in str(refused.detail)


@pytest.mark.parametrize(
    ("n_lines", "n_against", "is_refused"),
    [(4, 4, False), (5, 5, True), (20, 7, False), (20, 8, True), (100, 12, False), (100, 13, True), (3000, 30, False)],
)
def test_lines_that_may_be_chance_are_quarantined_and_more_refuse_the_file(
    place: Place, n_lines: int, n_against: int, is_refused: bool
) -> None:
    outcome = ingested(place, exclusive(n_lines, n_against))
    assert outcome.status == ("rejected" if is_refused else "loaded")
    assert outcome.n_quarantined == (None if is_refused else n_against)


@given(of_lines=st.integers(1, 3000), share=st.floats(0, 1))
def test_what_is_called_systematic_happens_by_chance_less_than_once_in_a_billion(
    of_lines: int, share: float, systematic: Any
) -> None:
    n_lines = math.ceil(share * of_lines)
    if systematic(n_lines, of_lines):
        assert binom.sf(n_lines - 1, of_lines, 0.01) < 1e-9
    elif n_lines > 0:
        assert binom.sf(n_lines - 1, of_lines, 0.01) > 1e-12


@pytest.fixture(scope="module")
def systematic(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The rule in SQL, as a function."""
    import duckdb

    from pipelines.queries import load

    connection = duckdb.connect()
    connection.execute(load("ingest/macros/1_is_systematic").text)
    return lambda n, of: connection.execute("select is_systematic($n, $of)", {"n": n, "of": of}).fetchall()[0][0]


def test_one_deployment_of_many_is_enough(place: Place) -> None:
    rows = [request(n) for n in range(2000)]
    rows += [row | {"request_id": f"x-{n}", "deployment": "other"} for n, row in enumerate(exclusive(40, 20))]
    refused = ingested(place, rows)
    assert refused.status == "rejected"
    assert "20 of 40 lines (the first: 2001, 2002, 2003) of deployment other" in str(refused.detail)


def test_double_counts_of_an_engine_that_is_known_to_include_them_are_quarantined_line_by_line(place: Place) -> None:
    place.configure(SOURCE.replace("canonical", "sglang_export") + 'deployment = "pool"\n')
    place.write(
        "a.jsonl",
        [
            {
                "request_parameters": "{}", "id": f"q-{n}", "request_received_ts": 1_795_860_900 + n,
                "prompt_tokens": 59_946, "cached_tokens": 122_884 if n < 20 else 40_000, "completion_tokens": 9,
                "e2e_latency": 3.7,
            }
            for n in range(100)
        ],
    )  # fmt: skip
    (outcome,) = place.ingest()
    assert (outcome.n_loaded, outcome.detail) == (80, "20 cached_exceeds_input")


def test_a_format_that_tells_by_line_is_overruled_by_what_is_declared(place: Place) -> None:
    usage = {"prompt_tokens": 300, "completion_tokens": 5, "cache_read_input_tokens": 200}
    line = {"ts": "2026-11-28T10:15:00Z", "id": "r-1", "model": "m", "usage": usage}
    found = []
    for count in ("inclusive", "exclusive"):
        other = Place(place.folder / count)
        other.configure(SOURCE.replace("canonical", "openai_usage") + f'input_tokens = "{count}"\n')
        other.write("a.jsonl", [line])
        other.ingest()
        found += other.rows("select input_tokens, cached_tokens from requests")
    assert found == [{"input_tokens": 300, "cached_tokens": 200}, {"input_tokens": 500, "cached_tokens": 200}]


@pytest.mark.parametrize(("n_lines", "most", "is_told"), [(1000, 950, True), (999, 950, False), (1000, 850, False)])
def test_hits_that_never_exceed_what_is_said_to_leave_them_out_are_told(
    place: Place, n_lines: int, most: int, is_told: bool
) -> None:
    rows = [request(n, cached_tokens=100 + n % (most - 99)) for n in range(n_lines)]
    outcome = ingested(place, rows, 'input_tokens = "exclusive"\n')
    assert outcome.n_loaded == n_lines
    assert bool(outcome.remarks) is is_told
    assert not is_told or "does it include them after all?" in outcome.remarks[0]


# Units of durations


def served(
    unit: str, *, ttft_s: float = 0.4, output_s: float = 0.02, n_lines: int = 30, **changes: Any
) -> list[dict[str, Any]]:
    """Requests logged in `unit` under the names of the format: 100 output tokens, each after `output_s`."""
    scale = UNIT_S[unit]
    return [
        request(
            n, output_tokens=100, ttft_ms=ttft_s * (1 + n / 100) / scale,
            e2e_ms=(ttft_s * (1 + n / 100) + 100 * output_s) / scale, **changes,
        )
        for n in range(n_lines)
    ]  # fmt: skip


@pytest.mark.parametrize("unit", ["s", "us"])
def test_durations_in_another_unit_are_refused_and_read_when_declared(place: Place, unit: str) -> None:
    rows = served(unit)
    refused = ingested(place, rows)
    assert str(refused.detail).startswith("latency_unit_implausible: ")
    assert "30 of 30 lines (the first: 1, 2, 3)" in str(refused.detail)
    assert f'latency_unit = "{unit}"' in str(refused.detail)
    assert ingested(place, rows, f'latency_unit = "{unit}"\n').n_loaded == 30
    assert place.rows("select min(ttft_us) as low, max(e2e_us) as high from requests") == [
        {"low": 400_000, "high": 2_516_000}
    ]


USUAL = {
    "fast": {"ttft_s": 0.1, "output_s": 0.005},
    "under load": {"ttft_s": 0.7, "output_s": 0.05},
    "queueing": {"ttft_s": 3.0, "output_s": 0.02},
    "long prompts, slow output": {"ttft_s": 20.0, "output_s": 0.1, "input_tokens": 300_000, "cached_tokens": 0},
}


@pytest.mark.parametrize("speeds", USUAL.values(), ids=USUAL.keys())
def test_seconds_are_not_taken_for_milliseconds(place: Place, speeds: dict[str, Any]) -> None:
    refused = ingested(place, served("s", **speeds))
    assert str(refused.detail).startswith("latency_unit_implausible: ")
    assert 'latency_unit = "s"' in str(refused.detail)


GENUINE = {
    "a proxy that passes on in bursts": {"ttft_s": 2.0, "output_s": 1e-6},
    "a hardwired chip": {"ttft_s": 0.003, "output_s": 1 / 17_000},
    "a wafer": {"ttft_s": 0.08, "output_s": 1 / 3000},
    "everything cached": {"ttft_s": 0.004, "output_s": 0.004, "cached_tokens": 999},
    "a long queue": {"ttft_s": 1800.0, "output_s": 0.05},
    "one processor": {"ttft_s": 900.0, "output_s": 2.0},
}


@pytest.mark.parametrize("speeds", GENUINE.values(), ids=GENUINE.keys())
def test_what_is_really_fast_or_slow_is_loaded(place: Place, speeds: dict[str, Any]) -> None:
    assert ingested(place, served("ms", **speeds)).n_loaded == 30


def test_times_that_are_right_can_be_said_to_be(place: Place) -> None:
    rows = served("ms", ttft_s=0.0002, output_s=1e-6)
    refused = ingested(place, rows)
    assert 'latency_unit = "as_logged"' in str(refused.detail)
    assert ingested(place, rows, 'latency_unit = "as_logged"\n').n_loaded == 30
    assert place.rows("select min(ttft_us) as low from requests") == [{"low": 200}]


def test_nanoseconds_taken_for_milliseconds_take_over_a_day(place: Place) -> None:
    rows = served("ns")
    refused = ingested(place, rows)
    assert str(refused.detail).startswith("latency_unit_implausible: ")
    assert 'latency_unit = "ns"' in str(refused.detail)
    assert ingested(place, rows, 'latency_unit = "ns"\n').n_loaded == 30


def test_the_command_line_declares_as_well(place: Place, capsys: pytest.CaptureFixture[str]) -> None:
    epochs = [row | {"timestamp": 1_795_860_900 + n} for n, row in enumerate(served("s"))]
    log = str(place.write("a.jsonl", [row | {"input_tokens": 600, "cached_tokens": 700} for row in epochs]))
    told = []
    for option in ("--epoch-unit=s", "--input-tokens=exclusive", "--latency-unit=s"):
        told.append(option)
        code = place.valleywatch("ingest", log, "--format", "canonical", *told)
        assert code == (0 if len(told) == 3 else 1)
    assert "latency_unit_implausible" in capsys.readouterr().err
    assert place.valleywatch("ingest", "--latency-unit", "s") == 2
    assert "--latency-unit: this describes the files you name" in capsys.readouterr().err


def test_a_few_lines_do_not_tell_a_unit(place: Place) -> None:
    assert ingested(place, served("s", n_lines=19)).n_loaded == 19


def test_a_first_token_after_the_end_refuses_the_file_and_one_does_not(place: Place) -> None:
    one = [request(n, e2e_ms=900) for n in range(60)] + [request(99, e2e_ms=100)]
    assert ingested(place, one).n_loaded == 61
    mixed = [request(n, output_tokens=ABSENT, e2e_ms=0.9) for n in range(60)]
    refused = ingested(place, mixed)
    assert str(refused.detail).startswith("first_token_after_end: 60 of 60 lines (the first: 1, 2, 3)")


def test_a_key_that_the_format_fixes_is_refused(place: Place) -> None:
    for key in ('latency_unit = "s"', 'input_tokens = "exclusive"', 'ttft_basis = "client"'):
        place.configure(SOURCE.replace("canonical", "sglang_export") + key + "\n")
        assert place.valleywatch("ingest") == 2


# Epochs


@pytest.mark.parametrize(("logged", "declared"), list(itertools.permutations(UNIT_S, 2)))
def test_an_epoch_in_another_unit_is_refused_with_the_right_one(place: Place, logged: str, declared: str) -> None:
    rows = [request(n, timestamp=round((1_795_860_900 + n) / UNIT_S[logged])) for n in range(3)]
    refused = ingested(place, rows, f'epoch_unit = "{declared}"\n')
    assert str(refused.detail).startswith("epoch_unit_implausible: ")
    assert f'epoch_unit = "{logged}"' in str(refused.detail)
    assert "3 of 3 lines (the first: 1, 2, 3)" in str(refused.detail)
    assert ingested(place, rows, f'epoch_unit = "{logged}"\n').n_loaded == 3
    assert place.rows("select min(arrived_us) as first_us from requests") == [{"first_us": 1_795_860_900_000_000}]


def test_times_that_no_unit_makes_plausible_are_quarantined_line_by_line(place: Place) -> None:
    rows = [request(n, timestamp=n * 1000) for n in range(3)]
    outcome = ingested(place, rows, 'epoch_unit = "ms"\n')
    assert (outcome.status, outcome.n_quarantined) == ("loaded", 3)


def test_one_plausible_arrival_keeps_a_file(place: Place) -> None:
    rows = [request(n, timestamp=1_795_860_900_000 + n) for n in range(3)] + [request(9, timestamp=1_795_860_900)]
    outcome = ingested(place, rows, 'epoch_unit = "s"\n')
    assert (outcome.n_loaded, outcome.n_quarantined) == (1, 3)


# Whole responses, silent caches


def test_the_end_of_a_whole_response_is_no_time_to_first_token(place: Place) -> None:
    rows = [
        request(1, ttft_ms=900, e2e_ms=900),
        request(2, ttft_ms=900, e2e_ms=900, output_tokens=1),
        request(3, ttft_ms=900, e2e_ms=900, output_tokens=ABSENT),
        request(4, ttft_ms=899.5, e2e_ms=900),
    ]
    outcome = ingested(place, rows)
    assert outcome.remarks == ("time to first token unknown where it was the end of a whole response: 1",)
    found = place.rows("select ttft_us from requests order by request_id")
    assert [row["ttft_us"] for row in found] == [None, 900_000, 900_000, 899_500]


@pytest.mark.parametrize(
    ("cached", "n_lines", "says"),
    [
        (0, 1000, "none of 1,000 requests of pool hit the cache: is it on?"),
        (None, 1000, "none of 1,000 requests of pool reports cached_tokens: are they logged?"),
        (0, 999, None),
        (1, 1000, None),
    ],
)
def test_a_cache_without_a_hit_is_told_with_the_producers_switch(
    place: Place, cached: int | None, n_lines: int, says: str | None
) -> None:
    outcome = ingested(place, [request(n, cached_tokens=cached) for n in range(n_lines)])
    assert outcome.n_loaded == n_lines
    assert bool(outcome.remarks) is (says is not None)
    if says is not None:
        assert outcome.remarks[0].startswith(says)
        assert "write one JSON object per finished request" in outcome.remarks[0]


def test_prompts_too_short_to_hit_are_not_held_against_a_cache(place: Place) -> None:
    rows = [request(n, input_tokens=255, cached_tokens=0) for n in range(1000)]
    assert ingested(place, rows).remarks == ()
