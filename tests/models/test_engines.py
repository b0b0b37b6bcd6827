"""The simulated engines do what they say, and their busy rows are those of the plain recipe."""

from __future__ import annotations

import time
from dataclasses import fields, replace

import numpy as np
import pytest

from tests.models import simulate
from tests.models.deployments import DENSE, OFFLOADED, SHARED, SMALL, UNPACKED, Day
from tests.models.engines import Engine, Hang, Traffic, busy_rows, serve, true_slope
from tests.models.workloads import AGENTIC, CHAT, DOCUMENTS, RETRIEVAL, SHORT, offer

EXACT = {"seed": 1, "overhead_s": 0.0}
PLAIN = Engine(step_s=0.01, token_s=1e-4, attention_s=1e-9, kv_load_s=1e-6, chunk_tokens=1_000, noise=0, instances=1)


def requests(*triples) -> Traffic:
    """Requests of (arrival, computed, cached), each of a session of its own, one output token long."""
    arrival, miss, cached = map(np.array, zip(*triples, strict=True))
    each = np.arange(len(arrival))
    return Traffic(arrival * 1.0, miss, cached, np.ones_like(each), each)


@pytest.mark.parametrize("packs", [True, False])
@pytest.mark.parametrize("miss", [1, 999, 1_000, 1_001, 4_321])
def test_a_lone_request_takes_the_time_of_its_costs(packs, miss):
    run = serve(replace(PLAIN, packs=packs), requests((5.0, miss, 7_000)), **EXACT)
    assert run.work_s == pytest.approx(PLAIN.alone_s(miss, 7_000))
    assert run.log.first_token_s == pytest.approx(5.0 + run.work_s)


@pytest.mark.parametrize(("packs", "steps"), [(True, 2), (False, 8)])
def test_small_requests_share_steps_only_where_they_are_packed(packs, steps):
    run = serve(replace(PLAIN, packs=packs), requests(*[(0.0, 250, 0)] * 8), **EXACT)
    shared_s = 8 * (PLAIN.alone_s(250, 0) - PLAIN.step_s)
    assert run.work_s == pytest.approx(steps * PLAIN.step_s + shared_s)


def test_decoding_slows_the_steps_beside_it():
    two = replace(requests((0.0, 500, 0), (1.0, 500, 0)), output_tokens=np.array([1_000, 1]))
    slowed = serve(replace(PLAIN, decoding_s=0.005), two, **EXACT).work_s
    assert slowed - serve(PLAIN, two, **EXACT).work_s == pytest.approx(0.005)


def test_a_hang_delays_what_waits_and_is_no_work():
    three = requests((0.0, 5_000, 0), (0.1, 500, 0), (100.0, 500, 0))
    calm, hung = (serve(PLAIN, three, **EXACT, hangs=hangs) for hangs in ((), [Hang(0, 0.2, 60.0)]))
    assert hung.log.first_token_s - calm.log.first_token_s == pytest.approx([60, 60, 0])
    assert hung.work_s == pytest.approx(calm.work_s)


def test_a_restart_loses_the_queue_and_the_cache():
    three = requests((0.0, 5_000, 0), (0.1, 500, 0), (100.0, 500, 4_000))
    restarted = serve(PLAIN, three, **EXACT, hangs=[Hang(0, 0.2, 60.0, loses=True)]).log
    assert (restarted.start_s.tolist(), restarted.miss_tokens.tolist()) == ([100.0], [4_500])


@pytest.mark.parametrize("router", ["turns", "shortest", "sticky"])
def test_every_request_is_answered_once_by_an_instance_that_was_there(router):
    engine = replace(DENSE, instances=3, router=router)
    traffic = offer(CHAT, engine, load=0.8, n_requests=800, seed=2)
    end_s = traffic.arrival_s[-1]
    log = serve(engine, traffic, seed=2, alive=[(0, 2 * end_s), (end_s / 2, 2 * end_s), (0, end_s / 3)]).log
    assert len(log) == len(traffic.session)
    assert (log.first_token_s > log.start_s).all()
    assert (log.start_s[log.instance == 1] >= end_s / 2).all()
    assert (log.start_s[log.instance == 2] < end_s / 3).all()
    assert set(log.instance) == {0, 1, 2}


@pytest.mark.parametrize("mix", [CHAT, AGENTIC, SHORT, DOCUMENTS, RETRIEVAL])
@pytest.mark.parametrize("rhythm", ["steady", "bursty", "diurnal"])
def test_the_offered_load_is_the_one_asked_for(mix, rhythm):
    traffic = offer(mix, DENSE, load=0.5, n_requests=3_000, seed=4, rhythm=rhythm)
    work_s = DENSE.alone_s(traffic.miss_tokens, traffic.cached_tokens).sum()
    assert work_s / DENSE.instances / traffic.arrival_s[-1] == pytest.approx(0.5, rel=0.02)
    assert len(traffic.session) >= 3_000
    assert (traffic.miss_tokens > 0).all()


def test_a_packing_engine_has_the_flatter_curve_and_another_the_same_at_any_load():
    assert true_slope(DENSE, 4_000) < true_slope(DENSE, 4_000, saturated=False) - 0.1
    assert true_slope(UNPACKED, 20_000) == pytest.approx(true_slope(UNPACKED, 20_000, saturated=False))


@pytest.mark.parametrize("day", [Day(SMALL, SHORT, 0.3), Day(OFFLOADED, AGENTIC, 1.0, "bursty", 2_000)])
def test_busy_rows_are_those_of_the_plain_recipe(day):
    log = day.run.log
    columns = zip(log.instance, log.start_s, log.first_token_s, log.miss_tokens, log.cached_tokens, strict=True)
    plain = simulate.busy_rows([simulate.Request(f"i{i}", *map(float, rest)) for i, *rest in columns])
    for field in fields(plain):
        one, other = (np.sort(getattr(rows, field.name)) for rows in (busy_rows(log), plain))
        assert one == pytest.approx(other), field.name


def test_a_day_takes_a_second():
    began = time.process_time()
    busy_rows(serve(SHARED, offer(AGENTIC, SHARED, load=0.5, n_requests=5_000, seed=1), seed=1).log)
    assert time.process_time() - began < 1.5
