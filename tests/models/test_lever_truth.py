"""Levers pulled on simulated engines: what the fitted curve promised, against the same requests served again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from models.busy_periods import fit_busy_periods
from models.chunks import CHUNK_TOKENS, chunk_steps
from models.levers import levers
from models.operating_point import OperatingPoint
from models.what_if import Change, what_if
from tests.models.deployments import DENSE, OFFLOADED, SHARED, SMALL, UNPACKED, Day
from tests.models.engines import Engine, Traffic, busy_rows, moments, serve
from tests.models.workloads import AGENTIC, CHAT, DOCUMENTS, RETRIEVAL, SHORT

PRICE_RATIO = 0.1


def point_of(day: Day) -> OperatingPoint:
    """The day as its log shows it."""
    fit = fit_busy_periods(busy_rows(day.run.log), reference_input_tokens=day.input_tokens, seed=1)
    assert fit.law is not None
    assert fit.draws is not None
    return OperatingPoint(fit.law, fit.draws, moments(day.traffic), PRICE_RATIO, input_per_mtok=1.0)


def sold(traffic: Traffic) -> float:
    return float((traffic.miss_tokens + PRICE_RATIO * traffic.cached_tokens).sum()) / 1e6


def gained(day: Day, engine: Engine, traffic: Traffic) -> float:
    """What the day's busy seconds would truly have earned more, as a share of what they earned."""
    again = serve(engine, traffic, seed=day.seed)
    return sold(traffic) / sold(day.traffic) * day.run.work_s / again.work_s - 1


def with_cached(traffic: Traffic, cached: np.ndarray) -> Traffic:
    whole = np.round(cached).astype(int)
    return replace(traffic, miss_tokens=traffic.miss_tokens + traffic.cached_tokens - whole, cached_tokens=whole)


def test_loading_keys_and_values_three_times_as_fast_earns_what_was_said() -> None:
    day = Day(OFFLOADED, AGENTIC, load=0.6, n_requests=3_000)
    here = point_of(day)
    _, promised = what_if(here, Change(kv_load=OFFLOADED.kv_load_s / 3))
    truth = gained(day, replace(OFFLOADED, kv_load_s=OFFLOADED.kv_load_s / 3), day.traffic)
    assert truth > 0.1
    assert promised.value / here.revenue == pytest.approx(truth, abs=0.02)


@pytest.mark.parametrize("x", [0.3, 0.7])
@pytest.mark.parametrize(
    ("engine", "mix"),
    [(DENSE, DOCUMENTS), (DENSE, AGENTIC), (SHARED, RETRIEVAL), (SMALL, CHAT), (OFFLOADED, DOCUMENTS)],
    ids=["dense documents", "dense agentic", "shared retrieval", "small chat", "offloaded documents"],
)
def test_another_hit_rate_earns_what_was_said(engine: Engine, mix, x: float) -> None:
    day = Day(engine, mix, load=0.9, n_requests=3_000)
    here, old = point_of(day), day.traffic
    if x < here.hit_rate:
        cached = old.cached_tokens * (x / here.hit_rate)
    else:
        cached = old.cached_tokens + old.miss_tokens * (x - here.hit_rate) / (1 - here.hit_rate)
    _, promised = what_if(here, Change(hit_rate=x))
    assert promised.value / here.revenue == pytest.approx(gained(day, engine, with_cached(old, cached)), abs=0.015)


def test_packing_earns_at_most_what_was_said_and_that_only_where_requests_wait() -> None:
    """Promised is what full chunks save: chunks fill only while there are requests to fill them with."""
    days = [Day(UNPACKED, SHORT, load=load, n_requests=3_000) for load in (0.5, 0.95, 4.0)]
    here, miss = point_of(days[1]), days[1].traffic.miss_tokens.astype(float)
    steps = chunk_steps(miss)[:, CHUNK_TOKENS.index(UNPACKED.chunk_tokens)].sum()
    fill = float(miss.sum() / (UNPACKED.chunk_tokens * steps))
    (packed,) = [lever for lever in levers(here, chunk_fill=fill) if lever.name == "pack_tail_chunks"]
    promised = packed.gain.value / here.revenue
    quiet, busy, flooded = (gained(day, replace(UNPACKED, packs=True), day.traffic) for day in days)
    assert -0.01 < quiet < busy < flooded < 1.05 * promised
    assert flooded > 0.8 * promised
    assert quiet < 0.1 * promised
