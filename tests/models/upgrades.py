"""Days of a service whose load and mix change all the time and whose engine may be upgraded, or slow down bit by bit.

Belongs here: rows as a window of production gives them. Does not belong here: engines, mixes, how a change is found.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from models.regression_rows import BusyRows
from tests.models.engines import Engine, Log, Traffic, busy_rows, serve
from tests.models.workloads import Mix, offer

HOUR_S = 3600.0
PART_REQUESTS = (3_000, 15_000)
"""Requests of one mix at one load, least and most: a few hours to a day of them."""


@dataclass(frozen=True)
class Window:
    """Rows by time, and the hours they cover. upgraded_at: first hour of the second engine, None without one."""

    rows: BusyRows
    input_tokens: float
    n_hours: int
    upgraded_at: int | None


def slowed(engine: Engine, factor: float) -> Engine:
    """The engine with every cost times `factor`: few requests keep it busy for days."""
    costs = ("step_s", "token_s", "attention_s", "kv_load_s", "request_s", "decoding_s")
    return replace(engine, **{name: factor * getattr(engine, name) for name in costs})


def changing_traffic(engine: Engine, mixes: tuple[Mix, ...], *, n_hours: int, seed: int) -> Traffic:
    """Stretches of traffic, each of another mix and rhythm at another load from 8 to 90 %."""
    rng = np.random.default_rng(seed)
    parts: list[Traffic] = []
    begins_s = 0.0
    while begins_s < n_hours * HOUR_S:
        part = offer(
            mixes[rng.integers(len(mixes))],
            engine,
            load=float(rng.uniform(0.08, 0.9)),
            n_requests=int(rng.integers(*PART_REQUESTS)),
            seed=int(rng.integers(2**31)),
            rhythm=("steady", "bursty", "diurnal")[rng.integers(3)],
        )
        ends_s = begins_s + float(part.arrival_s[-1]) + 1.0
        parts.append(replace(part, arrival_s=part.arrival_s + begins_s, session=part.session + 100_000 * len(parts)))
        begins_s = ends_s
    names = Traffic.__dataclass_fields__
    whole = Traffic(**{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})
    return picked(whole, whole.arrival_s < n_hours * HOUR_S)


def picked(traffic: Traffic, chosen: np.ndarray) -> Traffic:
    return Traffic(**{name: getattr(traffic, name)[chosen] for name in Traffic.__dataclass_fields__})


def served_window(
    engines: list[tuple[int, Engine]], traffic: Traffic, *, n_hours: int, seed: int, overhead_s: float = 0.04
) -> Window:
    """Serve the traffic with the engine of each hour: (first hour, engine), ascending from 0."""
    logs = []
    bounds = [first for first, _ in engines[1:]] + [n_hours + 1]
    for (first, engine), end in zip(engines, bounds, strict=True):
        chosen = (traffic.arrival_s >= first * HOUR_S) & (traffic.arrival_s < end * HOUR_S)
        if chosen.any():
            logs.append(serve(engine, picked(traffic, chosen), seed=seed + first, overhead_s=overhead_s).log)
    log = Log(**{name: np.concatenate([getattr(one, name) for one in logs]) for name in Log.__dataclass_fields__})
    by_instance = [busy_rows(log.pick(log.instance == i)) for i in np.unique(log.instance).tolist()]
    hours = np.concatenate([rows.hour_index for rows in by_instance])
    order = np.argsort(hours, kind="stable")
    columns = {
        name: np.concatenate([getattr(rows, name) for rows in by_instance])[order]
        for name in BusyRows.__dataclass_fields__
    }
    length = float((traffic.miss_tokens + traffic.cached_tokens).mean())
    return Window(BusyRows(**columns), length, n_hours, engines[1][0] if len(engines) > 1 else None)
