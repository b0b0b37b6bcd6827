"""Logs of one deployment that were taken at different places are never pooled in one curve."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from pipelines.contracts import judge_requests
from pipelines.settings import load_settings
from tests.place import PRICE, Place, request
from tests.verdicts.traffic import busy_hours

pytestmark = pytest.mark.jobs

DAY = 20_785  # 2026-11-28
ROWS = busy_hours(n_hours=4, per_hour=150)
MEASURED = "select * from throughput_curve"
BUSY = "select hour_utc, busy_share, regime from valley_status order by 1"

Basis = tuple[str | None, str | None]


def source(name: str, basis: Basis) -> str:
    ttft, cached = basis
    return (
        f'[[sources]]\nname = "{name}"\nformat = "canonical"\npath = "logs/{name}.jsonl"\n'
        + (f'ttft_basis = "{ttft}"\n' if ttft else "")
        + (f'cached_basis = "{cached}"\n' if cached else "")
    )


def lines(prefix: str, *, times: int = 1) -> list[dict[str, Any]]:
    """The traffic of ROWS as it is seen from somewhere, all times so many times as long."""
    return [
        request(**row) | {"request_id": f"{prefix}-{row['number']}", "ttft_ms": row["ttft_ms"] * times} for row in ROWS
    ]


def settled(folder: Path, *, better: Basis, worse: Basis | None) -> Place:
    place = Place(folder, source("better", better) + (source("worse", worse) if worse else "") + PRICE)
    place.write("better.jsonl", lines("b"))
    if worse:
        place.write("worse.jsonl", lines("w", times=10))
    place.settle()
    return place


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        (("engine", None), ("gateway", None)),
        (("gateway", None), ("client", None)),
        (("client", None), (None, None)),
        ((None, "measured"), ("engine", "predicted")),
        (("client", "predicted"), ("engine", "simulated")),
    ],
)
def test_of_two_bases_the_better_alone_makes_the_curve_and_the_busy_time(
    tmp_path: Path, better: Basis, worse: Basis
) -> None:
    alone = settled(tmp_path / "alone", better=better, worse=None)
    both = settled(tmp_path / "both", better=better, worse=worse)
    (curve,), (expected,) = both.rows(MEASURED), alone.rows(MEASURED)
    assert expected["trustworthy"]
    lengths = {"reference_input_tokens"}
    assert {key: curve[key] for key in curve if key not in lengths} == {
        key: expected[key] for key in expected if key not in lengths
    }
    assert both.rows(BUSY) == alone.rows(BUSY)
    assert len(both.rows("select distinct basis_rank from busy_periods")) == 2


def test_what_was_left_out_is_told(tmp_path: Path) -> None:
    place = settled(tmp_path, better=("engine", None), worse=("client", None))
    with place.warehouse.writer() as writer:
        findings = judge_requests(writer, DAY, load_settings(place.config).policy)
    (told,) = [finding for finding in findings if not finding.passed]
    assert told.expectation == "a deployment is measured at one place; of several its curve uses the best"
    assert "n_bases = 2 (deployment pool, bases client measured, engine measured" in told.detail


def test_a_cache_that_never_hits_is_told(tmp_path: Path) -> None:
    place = Place(tmp_path)
    place.write("a.jsonl", [request(number, cached_tokens=0) for number in range(1000)])
    place.ingest()
    with place.warehouse.writer() as writer:
        findings = judge_requests(writer, DAY, load_settings(place.config).policy)
    (told,) = [finding for finding in findings if not finding.passed]
    assert told.expectation == "a cache that is reported has hits; if it has none, is it switched on?"
    assert "n_silent_caches = 1 (deployment pool, " in told.detail


def test_the_basis_of_a_request_is_the_sources_where_it_says_one(tmp_path: Path) -> None:
    place = settled(tmp_path, better=("engine", "predicted"), worse=(None, None))
    assert place.rows("select distinct ttft_basis, cached_basis from requests order by all") == [
        {"ttft_basis": "declared", "cached_basis": "measured"},
        {"ttft_basis": "engine", "cached_basis": "predicted"},
    ]
