"""Compare the fit of throughput curves and its bootstrap with general least-squares libraries: CPU seconds in one run.

    PYTHONPATH=. python benchmarks/fit.py

One deployment is a day of four instances, a row a minute each. Everybody fits the same non-negative law to the same
rows with the same weights and refits it to resampled hours; valleywatch also drops outliers, takes out idle moments
and judges the result. The slow ones are timed on a few deployments and draws and scaled. Needs numpy, scipy and lmfit.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable

# One thread for everybody: the fits are small, and CPU seconds are compared.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import lmfit  # noqa: E402
import numpy as np  # noqa: E402
from scipy.optimize import curve_fit  # noqa: E402

from models.busy_periods import fit_busy_periods  # noqa: E402
from models.regression_rows import BusyRows  # noqa: E402
from models.service_time import straight_line_draws  # noqa: E402

Array = np.ndarray
INSTANCES, MINUTES = 4, 1440
PARAMETERS = ("f", "c", "q", "k", "overhead")
Peer = Callable[[Array, Array, Array], Array]


def day(number: int) -> BusyRows:
    """Return a day of a deployment with a law of its own, seeded; a minute's row sums some requests."""
    dice = np.random.default_rng(number)
    law = np.array([1e-2, 6e-5, 1e-9, 3e-7, 4e-3]) * dice.lognormal(0, 0.5, 5)
    n_rows = INSTANCES * MINUTES
    hour = np.repeat(np.arange(24), n_rows // 24)
    n_requests = 1.0 + dice.poisson(4, n_rows)
    length, hit_rate = dice.lognormal(9.5, 0.6, n_rows), dice.uniform(0, 0.97, n_rows)
    miss, cached = length * (1 - hit_rate), length * hit_rate
    features = np.stack([
        n_requests, n_requests * miss, n_requests * miss * (cached + miss / 2), n_requests * cached,
        dice.binomial(n_requests.astype(np.int64), 0.4).astype(np.float64),
    ])  # fmt: skip
    busy_s = law @ features * dice.lognormal(0, 0.04, n_rows)
    return BusyRows(hour, busy_s, *features)


def features_of(rows: BusyRows) -> tuple[Array, Array]:
    """Return features (n, 5) and target (n,) at weight 1/busy_s, features in units of their size: peers need that."""
    features = np.stack(
        [rows.n_requests, rows.miss_tokens, rows.attention_tokens2, rows.cached_tokens, rows.period_begins], axis=1
    )
    weighted = features / np.sqrt(rows.busy_s)[:, np.newaxis]
    return weighted / np.linalg.norm(weighted, axis=0) * np.sqrt(len(weighted)), np.sqrt(rows.busy_s)


def with_scipy(features: Array, target: Array, start: Array) -> Array:
    """Fit by scipy's curve_fit, bounded, with the exact Jacobian."""
    found, _ = curve_fit(
        lambda x, *law: x @ np.array(law), features, target, p0=start, bounds=(0, np.inf), jac=lambda x, *_: x
    )
    return np.asarray(found)


def with_lmfit(features: Array, target: Array, start: Array) -> Array:
    """Fit by lmfit's least squares, bounded, as its manual does it."""
    parameters = lmfit.Parameters()
    for name, value in zip(PARAMETERS, start, strict=True):
        parameters.add(name, value=value, min=0)
    found = lmfit.minimize(
        lambda law: features @ np.array([law[name].value for name in PARAMETERS]) - target, parameters
    )
    return np.array([found.params[name].value for name in PARAMETERS])


PEERS: dict[str, Peer] = {"scipy curve_fit": with_scipy, "lmfit minimize": with_lmfit}


def cpu_of_ours(n_deployments: int, n_draws: int) -> tuple[float, Array]:
    """Return the CPU seconds of fitting so many deployments, their making left out, and the slopes."""
    spent, slopes = 0.0, []
    for number in range(n_deployments):
        rows = day(number)
        begun = time.process_time()
        fit = fit_busy_periods(rows, reference_input_tokens=15_000.0, seed=number, n_draws=n_draws)
        spent += time.process_time() - begun
        slopes.append(fit.a)
    return spent, np.array(slopes)


def cpu_of_peer(fit: Peer, n_deployments: int, n_refits: int, n_draws: int) -> tuple[float, Array]:
    """Return the CPU seconds of one deployment with all its draws, scaled from a few refits, and the slopes."""
    once, again, slopes = 0.0, 0.0, []
    for number in range(n_deployments):
        rows = day(number)
        features, target = features_of(rows)
        dice = np.random.default_rng(number)
        begun = time.process_time()
        law = fit(features, target, np.full(5, 0.1))
        once += time.process_time() - begun
        for _ in range(n_refits):
            begun = time.process_time()
            drawn = np.concatenate([np.flatnonzero(rows.hour_index == hour) for hour in dice.integers(0, 24, 24)])
            fit(features[drawn], target[drawn], np.maximum(law, 1e-3))
            again += time.process_time() - begun
        slopes.append(slope_of(rows, law))
    return once / n_deployments + n_draws * again / (n_deployments * n_refits), np.array(slopes)


def slope_of(rows: BusyRows, scaled: Array) -> float:
    """Return a of a law in the peers' units."""
    columns = (rows.n_requests, rows.miss_tokens, rows.attention_tokens2, rows.cached_tokens)
    unit = np.array([np.linalg.norm(column / np.sqrt(rows.busy_s)) for column in columns]) / np.sqrt(len(rows.busy_s))
    return float(straight_line_draws((scaled[:4] / unit)[np.newaxis], 15_000.0)[1][0])


def main() -> None:
    """Print two Markdown tables: growth with the number of deployments, and the peers."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--deployments", type=int, nargs="+", default=[10, 100, 1000])
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--peer-deployments", type=int, default=5)
    parser.add_argument("--peer-refits", type=int, default=10, help="draws that peers are timed on, of each deployment")
    options = parser.parse_args()
    cpu_of_ours(3, options.draws)  # imports and first calls are nobody's
    print("| deployments | CPU s | CPU ms each |\n|---|---|---|")
    for n_deployments in options.deployments:
        cpu_s, slopes = cpu_of_ours(n_deployments, options.draws)
        each_s = cpu_s / n_deployments
        print(f"| {n_deployments:,} | {cpu_s:.1f} | {1e3 * each_s:.1f} |", flush=True)
    print("\n| fit | measured | CPU s a deployment | CPU s for 1,000 | against valleywatch | a differs by |")
    print("|---|---|---|---|---|---|")
    print(f"| valleywatch | {n_deployments:,} × {options.draws} draws | {each_s:.4f} | {1e3 * each_s:,.0f} | 1 | |")
    for name, fit in PEERS.items():
        cpu_s, others = cpu_of_peer(fit, options.peer_deployments, options.peer_refits, options.draws)
        measured = f"{options.peer_deployments} × {options.peer_refits} draws, scaled"
        off = np.abs(others - slopes[: len(others)]).max()
        ratio = f"{cpu_s / each_s:,.0f}"
        print(f"| {name} | {measured} | {cpu_s:.2f} | {1e3 * cpu_s:,.0f} | {ratio} | {off:.4f} |", flush=True)


if __name__ == "__main__":
    main()
